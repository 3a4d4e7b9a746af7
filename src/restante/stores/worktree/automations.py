"""The text of STATE.json: the original program's repeats, which it calls automations.

``version``, ``mode``, ``updatedAt`` and ``automations``, each of these with the keys that ``to_json`` writes; two
spaces of indent, LF at the end. What else stands in the file, and entries that are no automations, is kept.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from restante.domain.errors import Damaged, NothingThere
from restante.domain.message import Priority, Scope
from restante.domain.repeat import Repeat
from restante.domain.text import iso
from restante.stores.worktree.layout import STATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    Json = dict[str, Any]

MOST_BYTES = 16 << 20

_Choice = TypeVar("_Choice", bound=StrEnum)
_LEAST_INTERVAL_MS = 5000
_MOST_INTERVAL_MS = 3650 * 86_400_000
_REMEDY = f"mend {STATE} or move it away; mail is not touched by it"


class Document:
    """STATE.json in memory.

    Args:
        data: The file's bytes; none stand for a file that is not there yet.

    Raises:
        Damaged: The file is not what it should be.
    """

    def __init__(self, data: bytes) -> None:
        self.whole: Json = _parsed(data) if data.strip() else {"version": 1, "mode": "mailbox-only", "updatedAt": ""}
        self.automations: list[Any] = self.whole.setdefault("automations", [])
        if not isinstance(self.automations, list):
            raise Damaged(f"{STATE}: automations is not a list", remedy=_REMEDY)

    def repeats(self) -> Iterator[tuple[Repeat, Json]]:
        """Yield each repeat that can be understood, with the entry it was read from."""
        for repeat, entry, _ in self._entries():
            if repeat is not None:
                yield repeat, entry

    def reasons(self) -> list[str]:
        """Return why entries are not repeats."""
        return [reason for _, _, reason in self._entries() if reason]

    def entry(self, repeat_id: str) -> Json:
        """Return the entry of an id, whatever else is wrong with it.

        Raises:
            NothingThere: There is none.
        """
        for one in self.automations:
            if isinstance(one, dict) and one.get("id") == repeat_id:
                return one
        raise NothingThere(f"no repeat {repeat_id!r}", remedy="restante repeats list shows the ids")

    def encoded(self, now: datetime) -> bytes:
        """Return the file's new bytes.

        Raises:
            Damaged: Something in it has no form in JSON, such as a number beyond all bounds.
        """
        self.whole["updatedAt"] = iso(now)
        try:
            text = json.dumps(self.whole, indent=2, ensure_ascii=False, allow_nan=False)
        except (ValueError, RecursionError) as error:
            raise Damaged(f"{STATE} cannot be written back as it is: {error}", remedy=_REMEDY) from None
        # A lone surrogate has no UTF-8 form; JSON can say it all the same.
        return (re.sub("[\ud800-\udfff]", lambda one: f"\\u{ord(one[0]):04x}", text) + "\n").encode()

    def _entries(self) -> Iterator[tuple[Repeat | None, Json, str]]:
        known: set[str] = set()
        for number, one in enumerate(self.automations, start=1):
            try:
                repeat = from_json(one)
                if repeat.id in known:
                    raise ValueError("its id stands twice")  # noqa: TRY301 - told like every other fault of an entry
            except ValueError as reason:
                name = one.get("id") if isinstance(one, dict) else None
                yield None, {}, f"automation {number} ({name if isinstance(name, str) else 'no id'}): {reason}"
            else:
                known.add(repeat.id)
                yield repeat, one, ""


def _parsed(data: bytes) -> Json:
    if len(data) > MOST_BYTES:
        raise Damaged(f"{STATE} is larger than {MOST_BYTES >> 20} MiB", remedy=_REMEDY)
    try:
        whole = json.loads(data.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Damaged(f"{STATE} is not JSON: {reason}", remedy=_REMEDY) from None
    if not isinstance(whole, dict):
        raise Damaged(f"{STATE} does not hold an object", remedy=_REMEDY)
    if whole.get("version", 1) != 1:
        raise Damaged(
            f"{STATE} has version {whole['version']!r}, which is not known here",
            remedy="use the program that wrote it, or a newer Restante",
        )
    return whole


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def to_json(repeat: Repeat) -> Json:
    """Return a repeat as an entry of ``automations``."""
    return {
        "id": repeat.id,
        "status": "active" if repeat.active else "paused",
        "body": repeat.body,
        "priority": repeat.priority.value,
        "scope": repeat.scope.value,
        "intervalMs": repeat.interval_ms,
        "createdAt": iso(repeat.created),
        "updatedAt": iso(repeat.updated),
        "nextRunAt": iso(repeat.next_run),
        "lastSentAt": iso(repeat.last_sent) if repeat.last_sent else None,
        "sentCount": repeat.sent_count,
        "sourceMessageId": repeat.source_message_id or None,
        "allowWarnings": repeat.allow_warnings,
    }


def from_json(entry: Any) -> Repeat:  # noqa: ANN401 - any value may stand in the list
    """Read an entry of ``automations``.

    Raises:
        ValueError: It is no repeat; the text says why.
    """
    if not isinstance(entry, dict):
        raise ValueError("not an object")  # noqa: TRY004 - one class for all that may be wrong
    repeat_id, body, status = entry.get("id"), entry.get("body"), entry.get("status")
    # The id becomes part of a client id, which stands on one line of a message's head.
    if not isinstance(repeat_id, str) or not re.fullmatch(r"[!-~]{1,200}", repeat_id):
        raise ValueError("id is missing or not one word")
    if not isinstance(body, str) or not body.strip():
        raise ValueError("body is missing or empty")
    if status not in ("active", "paused"):
        raise ValueError(f"status {status!r} is neither active nor paused")
    count = _whole(entry.get("sentCount", 0))
    if count is None or count < 0:
        raise ValueError(f"sentCount {entry['sentCount']!r} is not a count")
    last, source = entry.get("lastSentAt"), entry.get("sourceMessageId")
    return Repeat(
        id=repeat_id,
        active=status == "active",
        body=body,
        priority=_choice(Priority, entry, "priority"),
        scope=_choice(Scope, entry, "scope"),
        interval_ms=interval_of(entry),
        created=_time(entry, "createdAt"),
        updated=_time(entry, "updatedAt"),
        next_run=_time(entry, "nextRunAt"),
        last_sent=None if last is None else _time(entry, "lastSentAt"),
        sent_count=count,
        source_message_id=source if isinstance(source, str) else "",
        allow_warnings=entry.get("allowWarnings") is True,
    )


def interval_of(entry: Json) -> int:
    """Return an entry's interval in milliseconds.

    Raises:
        ValueError: It is no whole number from five seconds to ten years.
    """
    value = _whole(entry.get("intervalMs"))
    if value is None or not _LEAST_INTERVAL_MS <= value <= _MOST_INTERVAL_MS:
        raise ValueError(
            f"intervalMs {entry.get('intervalMs')!r} is not a whole number from {_LEAST_INTERVAL_MS} to ten years"
        )
    return value


def has_time(entry: Json, key: str) -> bool:
    """Tell whether a key holds a time."""
    try:
        _time(entry, key)
    except ValueError:
        return False
    return True


def _whole(value: object) -> int | None:
    """Return a whole number, also where it is written as 5000.0; JavaScript knows no difference."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _choice(choices: type[_Choice], entry: Json, key: str) -> _Choice:
    value = entry.get(key)
    if not isinstance(value, str) or value not in [one.value for one in choices]:
        raise ValueError(f"{key} {value!r} is not known")
    return choices(value)


def _time(entry: Json, key: str) -> datetime:
    text = entry.get(key)
    try:
        time = datetime.fromisoformat(text if isinstance(text, str) else "")
    except ValueError:
        raise ValueError(f"{key} {text!r} is not a time") from None
    if time.tzinfo is None:
        raise ValueError(f"{key} {text!r} has no time zone")
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{key} {text!r} is beyond the calendar") from None
