"""Repeats in STATE.json, the original program's file and format, with claims of ours beside it.

**Why any number of our runners posts each period once.** A due period is named by its repeat and by the time it was
due: ``<repeat id>.<nextRunAt>``. That is the client id its message is posted under, and a mailbox posts a client id
once. A runner claims (``.restante/claims.json``), posts, and settles: one replacement of STATE.json that moves
nextRunAt on, by which the period is done and the next gets another name. So

* killed before posting: STATE.json still says due, the claim's owner is dead, the next runner posts: not lost;
* killed between posting and settling: the next runner posts under the same client id, is told that it is a
  duplicate, and settles: not doubled;
* stopped for hours between claiming and posting: its claim is given out again after a minute, and what it posts when
  it wakes up is a duplicate; a settled period's name is gone from the claims, so that it counts nothing twice;
* claims.json lost: runners do the same work twice, and the mailbox keeps one message of it.

The claim saves that work; it is not what correctness rests on. nextRunAt moves on when settling and not when
claiming, because then a single file says whether a period is done. It moves to one interval after the posting
(missed periods collapse into one, as in the original), and never back, whatever the clock does.

The original program knows neither claims nor client ids: two of its runners, or one of its and one of ours in the
moment between our posting and settling, can post a period twice.

Keys and entries that we do not know are written back as they were. A file that cannot be understood is left alone:
the book says ``Damaged``, and mail goes on.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import Conflict, Damaged, RestanteError
from restante.domain.mailbox import Fault
from restante.domain.text import iso
from restante.stores.files import read_file, replace
from restante.stores.worktree.automations import MOST_BYTES, Document, from_json, has_time, interval_of, to_json
from restante.stores.worktree.layout import STATE, Layout
from restante.stores.worktree.lock import locked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.repeat import Repeat
    from restante.ports import Clock
    from restante.stores.worktree.locate import Worktree

CLAIMS = "claims.json"
CLAIM_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Claim:
    """Who works on a period.

    Attributes:
        client_id: Names the period.
        pid: The runner.
        start: When that process started, as its system counts; empty where it cannot be told.
        time: When it claimed.
    """

    client_id: str
    pid: int
    start: str
    time: datetime

    def is_held(self, now: datetime) -> bool:
        """Whether its runner lives and has had less than a minute; a clock that was set makes it old, too."""
        return abs((now - self.time).total_seconds()) < CLAIM_SECONDS and _start_of(self.pid) == self.start


class StateBook:
    """``ports.RepeatBook`` on a worktree's STATE.json.

    Args:
        worktree: The worktree.
        clock: Says when the file was changed.
    """

    def __init__(self, worktree: Worktree, clock: Clock) -> None:
        self._layout = Layout(worktree)
        self._clock = clock

    def all(self) -> list[Repeat]:
        """Return the repeats in the order they were made; those that are no repeats are left to ``faults``."""
        return [repeat for repeat, _ in self._read().repeats()]

    def faults(self) -> list[Fault]:
        """Return what in the file is no repeat, and repeats that a clock set back keeps from running."""
        document = self._read()
        found = [Fault(STATE, 0, reason) for reason in document.reasons()]
        now = self._clock.now()
        for repeat, _ in document.repeats():
            if (
                repeat.active
                and repeat.last_sent is not None
                and repeat.last_sent > now + timedelta(seconds=CLAIM_SECONDS)
            ):
                reason = f"{repeat.id} was last posted in the future, at {iso(repeat.last_sent)}, and waits until then"
                found.append(Fault(STATE, 0, reason))
        return found

    def add(self, repeat: Repeat) -> None:
        """Keep a new repeat.

        Raises:
            Conflict: Its id is taken.
            Damaged: The file cannot be understood.
        """
        with locked(self._layout, STATE):
            document = self._read()
            if any(isinstance(one, dict) and one.get("id") == repeat.id for one in document.automations):
                raise Conflict(f"there is a repeat {repeat.id} already", remedy="set it up under a new id")
            document.automations.append(to_json(repeat))
            self._write(document)

    def set_active(self, repeat_id: str, active: bool, now: datetime) -> Repeat:
        """Pause or resume; a resumed repeat is next due one interval from now, which also mends a bad time."""
        with locked(self._layout, STATE):
            document = self._read()
            entry = document.entry(repeat_id)
            try:
                if active and not (entry.get("status") == "active" and has_time(entry, "nextRunAt")):
                    entry["nextRunAt"] = iso(now + timedelta(milliseconds=interval_of(entry)))
                entry["status"] = "active" if active else "paused"
                entry["updatedAt"] = iso(now)
                repeat = from_json(entry)
            except ValueError as reason:
                raise Damaged(
                    f"{repeat_id} in {STATE}: {reason}", remedy=f"restante repeats remove {repeat_id}"
                ) from None
            self._write(document)
        return repeat

    def remove(self, repeat_id: str) -> None:
        """Forget a repeat, also one that cannot be read."""
        with locked(self._layout, STATE):
            document = self._read()
            entry = document.entry(repeat_id)
            document.automations[:] = [one for one in document.automations if one is not entry]
            self._write(document)

    def claim_due(self, now: datetime, limit: int = 10) -> list[tuple[Repeat, str]]:
        """Claim the due repeats; takes no lock and writes nothing when there are none to claim."""
        if not _claimable(self._read(), self._claims(), now):
            return []
        with locked(self._layout, STATE):
            document = self._read()
            claims = self._claims()
            claimed = _claimable(document, claims, now)[:limit]
            current = {repeat.id: _name(repeat) for repeat, _ in document.repeats()}
            kept = {key: claim for key, claim in claims.items() if current.get(key) == claim.client_id}
            mine = {
                repeat.id: _Claim(client_id, os.getpid(), _start_of(os.getpid()) or "", now)
                for repeat, client_id in claimed
            }
            if claimed:
                self._write_claims({**kept, **mine})
        return claimed

    def settle(self, repeat_id: str, client_id: str, sent_at: datetime) -> None:
        """Record that a claimed repeat was posted; does nothing when another runner has done so."""
        with locked(self._layout, STATE):
            claims = self._claims()
            claim = claims.pop(repeat_id, None)
            if claim is None or claim.client_id != client_id:
                return
            document = self._read()
            for repeat, entry in document.repeats():
                if repeat.id == repeat_id:
                    if _name(repeat) == client_id:
                        # Never before what was due: a period's name must not come again.
                        after = max(sent_at, repeat.next_run) + timedelta(milliseconds=repeat.interval_ms)
                        entry["nextRunAt"] = iso(after)
                    entry["lastSentAt"] = entry["updatedAt"] = iso(sent_at)
                    entry["sentCount"] = repeat.sent_count + 1
                    self._write(document)
            self._write_claims(claims)

    def _read(self) -> Document:
        try:
            data = read_file(self._layout.shared(STATE), most=MOST_BYTES + 1)
        except RestanteError as error:
            raise Damaged(f"{STATE} cannot be read: {error.message}", remedy=error.remedy) from error
        return Document(data or b"")

    def _write(self, document: Document) -> None:
        replace(self._layout.shared(STATE), document.encoded(self._clock.now()))

    def _claims(self) -> dict[str, _Claim]:
        """Return the claims; what cannot be understood of them is none."""
        try:
            data = read_file(self._layout.own(CLAIMS), most=MOST_BYTES)
            found = json.loads(data or b"{}").get("claims", {})
            times = {key: datetime.fromisoformat(one.pop("time")).astimezone(UTC) for key, one in found.items()}
            return {key: _Claim(time=times[key], **one) for key, one in found.items()}
        except (RestanteError, ValueError, TypeError, AttributeError, KeyError, RecursionError, OverflowError):
            return {}

    def _write_claims(self, claims: Mapping[str, _Claim]) -> None:
        found = {
            key: {"client_id": one.client_id, "pid": one.pid, "start": one.start, "time": iso(one.time)}
            for key, one in claims.items()
        }
        text = json.dumps({"claims": found}, indent=2)
        replace(self._layout.own(CLAIMS), f"{text}\n".encode(), durable=False)


def _name(repeat: Repeat) -> str:
    """Return the name of the period that a repeat is in: the client id of its message."""
    return f"{repeat.id}.{iso(repeat.next_run)}"


def _claimable(document: Document, claims: Mapping[str, _Claim], now: datetime) -> list[tuple[Repeat, str]]:
    """Return the due repeats that no living runner works on, with the names of their periods."""
    found = []
    for repeat, _ in document.repeats():
        claim = claims.get(repeat.id)
        if not repeat.active or repeat.next_run > now:
            continue
        if claim is None or claim.client_id != _name(repeat) or not claim.is_held(now):
            found.append((repeat, _name(repeat)))
    return found


def _start_of(pid: int) -> str | None:
    """Return when a process started, ``None`` when it is dead, an empty text where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, *fields = file.read().rpartition(")")[2].split()
    except FileNotFoundError:
        if os.path.exists("/proc/self/stat"):
            return None
    except (OSError, ValueError):
        pass
    else:
        # A killed process whose parent has not looked after it yet is dead, too.
        return None if state in "ZX" else fields[18]
    try:
        os.kill(pid, 0)
    except PermissionError:
        return ""
    except (OSError, TypeError, OverflowError):
        return None
    return ""
