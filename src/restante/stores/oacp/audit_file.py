"""Audit records as files: their names, their YAML, and the few facts by which they are looked up.

After OACP 0.5.3, sections 1.3 and 6.8 of the specification. A record that names a key twice is none: which of the two
was meant is exactly what an audit has to know.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.bounded import bounded_copy
from restante.domain.errors import Damaged, Unsafe
from restante.stores.oacp.library import yaml
from restante.stores.oacp.reading import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,240}\.yaml")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_MOST_SAFE = 200
_MOST_DEPTH = 40
_MOST_PARTS = 200_000
_WIDE = 1_000_000


class DoubleKey(Damaged):
    """A record that names a key twice."""

    code = "duplicate_yaml_key"


class Facts(NamedTuple):
    """What an index knows of a record.

    Attributes:
        receiver: Who evaluated.
        message_id: What was evaluated.
        conversation_id: Of which thread.
        state: ``final_state``.
        evaluation_id: The evaluation's name.
    """

    receiver: str
    message_id: str
    conversation_id: str
    state: str
    evaluation_id: str


def safe_id(message_id: str) -> str:
    """Return a message's id as it stands in names of files."""
    return _UNSAFE.sub("_", message_id).strip("._")[:_MOST_SAFE] or "missing-message-id"


def record_name(message_id: str, now: datetime, evaluation: str = "") -> str:
    """Return the name of a record's file.

    Args:
        message_id: What was evaluated.
        now: When.
        evaluation: The evaluation's id, where the name without it is taken.
    """
    more = f"_{evaluation.removeprefix('eval-')[:8]}" if evaluation else ""
    return f"{now:%Y%m%dT%H%M%SZ}_{safe_id(message_id)}{more}.yaml"


def identity_name(receiver: str, message_id: str) -> str:
    """Return what the files about all evaluations of one message by one receiver are called."""
    return f".identity_{receiver}_{safe_id(message_id)}"


def check_name(name: str) -> None:
    """Refuse what is no name of a record.

    Raises:
        Unsafe: It would lead out of the folder, or to another kind of file.
    """
    if not NAME.fullmatch(name):
        raise Unsafe(f"{name!r:.80} is no name of an audit record", remedy="give the file's name, without its place")


class _Loader(yaml.CSafeLoader):
    """YAML with its types; a key that stands twice is an error."""


def _unique(loader: _Loader, node: yaml.MappingNode) -> dict[object, object]:
    found: dict[object, object] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str | int | float | bool | None):
            raise Damaged("audit record: a key is no scalar")
        if key in found:
            raise DoubleKey(f"audit record: the key {key!r:.80} stands twice")
        found[key] = loader.construct_object(value_node, deep=True)
    return found


_Loader.add_constructor("tag:yaml.org,2002:map", _unique)


class _Dumper(yaml.CSafeDumper):
    """YAML without references from one part to another."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the library calls it so
        """Write everything where it belongs."""
        return True


def parse_record(raw: bytes) -> dict[str, object]:
    """Return a record.

    Raises:
        DoubleKey: It names a key twice.
        Damaged: It cannot be read, or is larger than any record.
    """
    if len(raw) > MOST_BYTES:
        raise Damaged(f"audit record: more than {MOST_BYTES:,} bytes")
    try:
        text = raw.decode()
        _check_depth(text)
        value = bounded_copy(yaml.load(text, Loader=_Loader), most=_MOST_PARTS)
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise Damaged(f"audit record: {error}") from None
    if not isinstance(value, dict):
        raise Damaged("audit record: no mapping")
    return value


def _check_depth(text: str) -> None:
    """Raise before the C loader overruns its stack on nesting."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
            if depth > _MOST_DEPTH:
                raise Damaged(f"audit record: nesting is deeper than {_MOST_DEPTH}")
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1


def render_record(record: Mapping[str, object]) -> bytes:
    """Return a record as YAML that reads back as the same record.

    Raises:
        Damaged: No YAML does.
    """
    plain = bounded_copy(dict(record), most=_WIDE)
    for unicode in (True, False):
        data = yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=unicode, default_flow_style=False)
        try:
            raw = data.encode()
            if parse_record(raw) == plain:
                return raw
        except (UnicodeEncodeError, Damaged):
            continue
    raise Damaged("audit record: it holds text that YAML cannot keep")


# A value that YAML 1.1 takes for text beyond doubt: letters, then a dash.
_TEXT = rb"([A-Za-z]+-[A-Za-z0-9._-]+)"
_RECEIVER = re.compile(rb"^receiver:(?: ([A-Za-z][A-Za-z0-9._-]*)$)?", re.MULTILINE)
_NO_TEXT = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_ID = re.compile(rb"^message_id:(?: " + _TEXT + rb"$)?", re.MULTILINE)
_CONVERSATION = re.compile(rb"^conversation_id:(?: (?:" + _TEXT + rb"|(null))$)?", re.MULTILINE)
_STATE = re.compile(rb"^  final_state:(?: ([a-z_]+)$)?", re.MULTILINE)
_RESULT = re.compile(rb"^result:(?:\n((?:  [^\n]*\n)*))?", re.MULTILINE)
_EVALUATION = re.compile(rb"^evaluation_id:(?: (eval-[0-9a-f]{16})$)?", re.MULTILINE)


def facts_of(record: Mapping[str, object]) -> Facts:
    """Return what an index knows of a record."""
    result = record.get("result")
    state = result.get("final_state") if isinstance(result, dict) else None
    named = (record.get(name) for name in ("receiver", "message_id", "conversation_id"))
    receiver, message_id, conversation = (value if isinstance(value, str) else "" for value in named)
    return Facts(receiver, message_id, conversation, str(state or ""), str(record.get("evaluation_id") or ""))


def quick_facts(raw: bytes) -> Facts | None:
    """Return the facts where the file says each exactly once and as plainly as our writers do, else ``None``."""
    found = [pattern.findall(raw) for pattern in (_RECEIVER, _ID, _STATE, _EVALUATION, _RESULT)]
    conversation = _CONVERSATION.findall(raw)
    if any(len(one) != 1 or not one[0] for one in found) or len(conversation) > 1:
        return None
    # The state is the result's, and of no other part.
    if not _STATE.search(found.pop()[0]):
        return None
    thread = b""
    if conversation:
        thread, nothing = conversation[0]
        if not thread and not nothing:
            return None
    receiver, message_id, state, evaluation = (one[0].decode("ascii") for one in found)
    if receiver.lower() in _NO_TEXT:
        return None
    return Facts(receiver, message_id, thread.decode("ascii"), state, evaluation)
