"""What arrived in inboxes since a subscriber last looked, in the events and with the cursors of the format.

A cursor is ``projects/<project>/state/watch/<agent>[.<state id>].json``, which the original program reads and writes
too. It is written after the events were handed over, under a lock: who is killed meanwhile is told again, and watchers
that share a cursor share the events. What cannot be read is told once for each state of its file; that is remembered
beside it, in ``state/restante/<agent>/``.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from restante.domain.errors import Damaged, RestanteError, UsageError
from restante.stores.files import flocked, read_file, replace
from restante.stores.oacp.index import list_inbox, make_ours
from restante.stores.oacp.layout import AGENTS, INBOX, OURS, PROJECTS, STATE
from restante.stores.oacp.names import NAME_HELP, UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from restante.ports import Watcher
    from restante.stores.oacp.index import Examine, Summary
    from restante.stores.oacp.layout import Tree

    JSON = dict[str, Any]

WATCH = "watch"
_STATE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_FIELDS = ("from", "priority", "subject", "type")
_WAIT_SECONDS = 30.0
_NANO = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_since(text: str, now: datetime) -> datetime:
    """Return the instant before which mail is not news: ``now``, ``epoch``, ``<n>`` with s, m, h or d, or ISO 8601.

    Raises:
        UsageError: It is none of these.
    """
    word = text.strip()
    if word == "now":
        return now
    if word == "epoch":
        return _EPOCH
    try:
        if word[-1:] in UNITS and word[:-1].isascii() and word[:-1].isdigit():
            return now - timedelta(seconds=int(word[:-1]) * UNITS[word[-1]]) if len(word) < 13 else _EPOCH
        at = datetime.fromisoformat(word)
    except OverflowError:
        return _EPOCH
    except ValueError:
        raise UsageError(
            f"{text!r} is not a time to begin at", remedy="write now, epoch, 30m, 12h, 7d or an ISO time"
        ) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


class Watch:
    """A subscriber of one inbox.

    Args:
        tree: The tree.
        project: The project.
        agent: Whose inbox.
        state_id: Whose cursor; empty for the one that all without a name share.
        show_archived: Whether it is told too what left the inbox.
        examine: A look at the bytes before anything else reads them.

    Raises:
        NothingThere: The project, the agent or its inbox is unknown.
        UsageError: A name could lead out of the tree.
    """

    def __init__(
        self,
        tree: Tree,
        project: str,
        agent: str,
        *,
        state_id: str = "",
        show_archived: bool = False,
        examine: Examine | None = None,
    ) -> None:
        if state_id and not _STATE_ID.fullmatch(state_id):
            raise UsageError(f"{state_id!r} is not the name of a cursor", remedy=NAME_HELP)
        tree.open_agent(project, agent, INBOX).close()
        self.project = project
        self.agent = agent
        self._tree = tree
        self._state_id = state_id
        self._show_archived = show_archived
        self._examine = examine
        name = f"{agent}.{state_id}" if state_id else agent
        self.cursor = tree.path(PROJECTS, project, STATE, WATCH, f"{name}.json")
        ours = tree.path(PROJECTS, project, STATE, OURS, agent)
        self._told = f"{ours}/watch.{name}.told"
        self._lock = f"{ours}/watch.{name}.lock"

    def once(self, emit: Callable[[JSON], None], *, since: datetime) -> bool:
        """Hand over what is new, oldest name first, and then remember it; return whether there was nothing wrong.

        Args:
            emit: Takes an event; it has been delivered when this returns. What it raises ends the round, and what was
                delivered before is remembered.
            since: Where a subscriber without a cursor begins: older mail is no news to it.

        Raises:
            Busy: Others used the cursor for half a minute.
            StorageFailed: The cursor cannot be written.
        """
        make_ours(self._tree, self.project, self.agent)
        with self._tree.open(PROJECTS, self.project) as place, place.make(STATE) as state:
            state.make(WATCH).close()
        with flocked(self._lock, _WAIT_SECONDS):
            return self._round(emit, since)

    def follow(
        self, emit: Callable[[JSON], None], *, since: datetime, watcher: Watcher, timeout: float | None = None
    ) -> Iterator[bool]:
        """Do ``once`` whenever something may have changed; yield what it returns.

        Args:
            emit: As in ``once``.
            since: As in ``once``.
            watcher: Watches the inbox's directory.
            timeout: End after so many seconds; ``None`` to go on until stopped.
        """
        for _ in watcher.ticks(timeout):
            yield self.once(emit, since=since)

    def _round(self, emit: Callable[[JSON], None], since: datetime) -> bool:
        cursor, faults = self._read(self.cursor), self._read(self._told)
        is_first = cursor is None
        known: JSON = dict((cursor or {}).get("messages", {}))
        told: JSON = dict(faults or {})
        listed = {one.name: one for one in list_inbox(self._tree, self.project, self.agent, examine=self._examine)}
        before = (json.dumps(known), json.dumps(told))
        broken = {name: one for name, one in listed.items() if one.error}
        for name in set(told) - set(broken):
            del told[name]
        try:
            for name, one in sorted(broken.items()):
                if told.get(name) != one.stamp:
                    emit(self._error(one))
                    told[name] = one.stamp
            self._tell(emit, {name: one for name, one in listed.items() if not one.error}, known, since, is_first)
        finally:
            if is_first or before != (json.dumps(known), json.dumps(told)):
                self._remember(known, told)
        return not broken

    def _tell(
        self, emit: Callable[[JSON], None], listed: dict[str, Summary], known: JSON, since: datetime, is_first: bool
    ) -> None:
        cutoff = (since - _EPOCH) // timedelta(microseconds=1) * 1000
        for name in sorted(listed.keys() | known.keys()):
            one = listed.get(name)
            if one is None:
                if self._show_archived:
                    emit(self._event("message_archived", known[name]))
                del known[name]
            elif name not in known:
                entry = _entry(one)
                if not (is_first and one.modified <= cutoff):
                    emit(self._event("new_message", entry))
                known[name] = entry

    def _event(self, kind: str, entry: JSON) -> JSON:
        fields = {name: value for name, value in entry.items() if name in (*_FIELDS, "file", "auth")}
        return {"agent": self.agent, "event": kind, "project": self.project, **fields}

    def _error(self, one: Summary) -> JSON:
        path = self._tree.path(PROJECTS, self.project, AGENTS, self.agent, INBOX, one.name)
        base = {"agent": self.agent, "event": "error", "project": self.project}
        return {**base, "error": one.error, "file": one.name, "path": path}

    def _read(self, path: str) -> JSON | None:
        data = read_file(path)
        if data is None:
            return None
        try:
            content = json.loads(data)
            if isinstance(content, dict) and isinstance(content.get("messages", {}), dict):
                return content
        except (ValueError, RecursionError):
            pass
        raise Damaged(f"{path} is no cursor", remedy="remove it, and begin anew with --since")

    def _remember(self, known: JSON, told: JSON) -> None:
        content: JSON = {"version": 1, "project": self.project, "agent": self.agent, "messages": known}
        if self._state_id:
            content["state_id"] = self._state_id
        replace(self.cursor, (json.dumps(content, indent=2, sort_keys=True) + "\n").encode(errors="replace"))
        replace(self._told, (json.dumps(told, sort_keys=True) + "\n").encode(errors="replace"))


def _entry(one: Summary) -> JSON:
    """Return what the cursor keeps of a message; what it lacks, or may not be shown, is a question mark."""
    shown = {"from": one.sender, "priority": one.priority, "subject": one.subject, "type": one.type}
    if not one.subject and (one.id or not one.standing):
        shown["subject"] = "(no subject)"
    entry = {"file": one.name, **{name: value or "?" for name, value in shown.items()}}
    return {**entry, "auth": one.standing} if one.standing else entry


def watch_all(watches: Iterable[Watch], emit: Callable[[JSON], None], *, since: datetime) -> bool:
    """Do ``once`` for several inboxes; one that cannot be read is told as an error event and stops no other."""
    is_fine = True
    for one in watches:
        try:
            is_fine &= one.once(emit, since=since)
        except RestanteError as error:
            emit({"agent": one.agent, "error": error.message, "event": "error", "project": one.project})
            is_fine = False
    return is_fine
