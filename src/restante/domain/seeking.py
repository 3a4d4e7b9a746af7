"""Words that somebody looks for in the texts of a mailbox: which messages have them all."""

import re
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable

    from restante.domain.mailbox import Entry
    from restante.domain.message import Reply

# What a person types; more would cost each message more than reading it.
MOST_LETTERS = 200
_WORD = re.compile(r'"([^"]+)"|(\S+)')


class Sought(NamedTuple):
    """What is looked for: all of these, each anywhere, in capitals or not."""

    words: tuple[str, ...]

    def fits(self, entry: "Entry", replies: "Iterable[Reply]") -> bool:
        """Tell whether a message, with what its addressee said of it, has all of it."""
        message = entry.message
        said = (entry.standing.summary, *(one.body for one in replies))
        heads = (message.subject, message.id, message.conversation, message.sender.name)
        text = _even("\n".join((*heads, message.body, *said)))
        return all(word in text for word in self.words)


def sought(typed: str) -> Sought:
    """Read what was typed: words, and between quotes several that stand together."""
    found = _WORD.findall(typed[:MOST_LETTERS])
    return Sought(tuple(dict.fromkeys(_even(together or word) for together, word in found)))


def _even(text: str) -> str:
    # One letter may be written as one character or as two, and nobody sees which.
    folded = text.casefold()
    return folded if folded.isascii() else normalize("NFC", folded)
