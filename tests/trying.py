"""How many examples hypothesis tries where a test asks for more or fewer than others do."""

from __future__ import annotations

from hypothesis import settings

# What the profile of ``make test-all`` tries; see tests/conftest.py.
_ALL = 200


def examples(count: int) -> int:
    """Return how many to try for the ``count`` that ``make test-all`` tries: in fast tests fewer, as everywhere."""
    usual = settings().max_examples
    return min(count, max(usual, count * usual // _ALL))
