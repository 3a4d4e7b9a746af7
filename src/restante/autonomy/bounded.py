"""Values of others, copied within bounds: aliases in YAML make a tree of a few lines that no memory holds."""

from __future__ import annotations

from datetime import date, datetime

from restante.autonomy.instants import parse_instant, show_instant

_MOST_PARTS = 2000
_DEEPEST = 24
_LARGEST = 2**53


def bounded_copy(value: object, *, most: int = _MOST_PARTS) -> object:
    """Return a copy made of mappings with text keys, lists, texts, numbers, booleans and None only.

    Args:
        value: What somebody else wrote.
        most: How many values it may have, inner ones included.

    Raises:
        ValueError: It is too deep, has too many parts, or holds something else.
    """
    return _copy(value, [most], _DEEPEST)


def _copy(value: object, left: list[int], depth: int) -> object:
    left[0] -= 1
    if left[0] < 0 or depth < 0:
        raise ValueError("is too large")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ValueError("holds a number too large")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime):
        instant = parse_instant(value)
        return show_instant(instant) if instant else None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {_key(key): _copy(one, left, depth - 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(one, left, depth - 1) for one in value]
    raise ValueError(f"holds a {type(value).__name__}")


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    raise ValueError(f"{key!r:.40} is no name")
