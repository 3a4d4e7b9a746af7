"""YAML as a receiver reads it: a mapping whose scalars are all text, from bytes that nobody vouches for.

Two things that YAML libraries do with hostile input are ruled out before a value is built: deep nesting, on which the
C loader overruns its stack, and aliases, which make a few bytes stand for gigabytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import Unreadable
from restante.stores.oacp.library import yaml
from restante.stores.oacp.quick import quick_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 1_048_576
MOST_DEPTH = 32
_MOST_NUMBER = 1_000
_DIGITS = frozenset("0123456789:_.+-")


class NotYaml(Unreadable):
    """Bytes that are no message: too many, not UTF-8, not YAML, or YAML that we refuse to build."""

    code = "not_yaml"

    def __init__(self, message: str) -> None:
        super().__init__(message, remedy="have it sent again")


def read_fields(raw: bytes) -> dict[str, object]:
    """Return a message's fields with every scalar as the text that stands there; lists and mappings nested as they are.

    Raises:
        NotYaml: As above, or the top level is no mapping.
    """
    text = decode(raw)
    fields = quick_fields(text)
    return _read(text) if fields is None else fields


def read_yaml(raw: bytes) -> dict[str, object]:
    """Do what ``read_fields`` does, by YAML alone."""
    return _read(decode(raw))


def _read(text: str) -> dict[str, object]:
    try:
        value = _build(yaml.parse(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        raise NotYaml(f"YAML parse error: {error}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise NotYaml("top-level YAML must be a mapping/object")
    return value


def read_typed(raw: bytes, *, unique: bool = False) -> object:
    """Return what a YAML file says with YAML 1.1's types, bounded as ``read_fields`` is.

    Args:
        raw: The file.
        unique: Whether a key that stands twice in one mapping is refused; otherwise the last one counts.

    Raises:
        NotYaml: As above.
    """
    text = decode(raw)
    try:
        _build(_with_short_numbers(yaml.parse(text, Loader=yaml.CSafeLoader)), unique=unique)
        return yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise NotYaml(f"YAML parse error: {error}") from None
    except (ValueError, TypeError) as error:
        # Scalars that look like a date or a number and are none, and keys that cannot be one.
        raise NotYaml(f"YAML value error: {error}") from None


def _with_short_numbers(events: Iterator[yaml.Event]) -> Iterator[yaml.Event]:
    """Pass events on; refuse numbers to the base of 60 that take minutes: ``1:0:0`` and so on for a megabyte."""
    for event in events:
        if isinstance(event, yaml.ScalarEvent) and _is_long_number(event):
            raise NotYaml(f"a number has more than {_MOST_NUMBER:,} characters")
        yield event


def _is_long_number(event: yaml.ScalarEvent) -> bool:
    # What is quoted and has no tag is text.
    return len(event.value) > _MOST_NUMBER and not event.implicit[1] and _DIGITS.issuperset(event.value)


def decode(raw: bytes) -> str:
    """Return the text of a file.

    Raises:
        NotYaml: It is too large, or not UTF-8.
    """
    if len(raw) > MOST_BYTES:
        raise NotYaml(f"it may have {MOST_BYTES:,} bytes, this one has more")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise NotYaml(f"failed to read file: {error}") from None


def read_policy(raw: bytes) -> object:
    """Return what a file of a receiver's own decisions says: where it says something twice, it has decided nothing."""
    return read_typed(raw, unique=True)


def _build(events: Iterator[yaml.Event], *, unique: bool = False) -> object:
    """Return the value of the only document; ``None`` when there is none."""
    root: list[object] = []
    # Where the next value goes: a list, or a mapping with the key that was read for it.
    open_places: list[tuple[list[object] | dict[str, object], list[str]]] = [(root, [])]
    for event in events:
        if isinstance(event, yaml.ScalarEvent):
            _put(open_places[-1], event.value, unique=unique)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            if len(open_places) > MOST_DEPTH:
                raise NotYaml(f"nesting is deeper than {MOST_DEPTH}")
            value: list[object] | dict[str, object] = {} if isinstance(event, yaml.MappingStartEvent) else []
            _put(open_places[-1], value, unique=unique)
            open_places.append((value, []))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            open_places.pop()
        elif isinstance(event, yaml.AliasEvent):
            raise NotYaml(f"it has an alias (*{event.anchor}), which a message may not")
        elif isinstance(event, yaml.DocumentStartEvent) and root:
            raise NotYaml("it holds more than one document")
    return root[0] if root else None


def _put(place: tuple[list[object] | dict[str, object], list[str]], value: object, *, unique: bool) -> None:
    container, key = place
    if isinstance(container, list):
        container.append(value)
    elif key:
        name = key.pop()
        if unique and name in container:
            raise NotYaml(f"the key {name!r:.80} stands twice")
        container[name] = value
    elif isinstance(value, str):
        key.append(value)
    else:
        raise NotYaml("a key is not text")
