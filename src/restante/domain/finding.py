"""What screening found."""

from typing import NamedTuple


class Finding(NamedTuple):
    """What screening found in a text.

    Attributes:
        code: Stable name of the rule, for example ``secret.github_token``.
        title: What it is, in words.
        line: Where, from 1.
        excerpt: The line, with anything secret replaced.
        at: Where in the text it begins, in characters.
        hidden: Which parts of the text no output may show because of it.
    """

    code: str
    title: str
    line: int
    excerpt: str
    at: int = 0
    hidden: tuple[tuple[int, int], ...] = ()
