"""The JSON forms of everything that a server and its clients tell each other: value to JSON, and back.

Names are those of the published session inbox API (camelCase, times in milliseconds since 1970), so that clients
written for it are served. Functions ``of_...`` make JSON-able values, functions ``..._from`` read them; what cannot
be read raises ``KeyError``, ``TypeError``, ``ValueError`` or ``AttributeError``, and the caller says whose fault that
is. How answers and errors are wrapped stands in ``domain.envelope``.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from restante.domain.ids import milliseconds
from restante.domain.lifecycle import Standing, Status
from restante.domain.mailbox import Counts, Entry, Posted
from restante.domain.message import Draft, Message, Priority, Scope, Sender
from restante.domain.overview import Cleared, Fate, Handed, Persistence, Reading, RoleMail, Row, Trace, Watched
from restante.domain.receipt import Action, Decision
from restante.domain.registry import Arrival, Identity, Latch, Presence, Process, Session, TurnSource
from restante.domain.telling import is_of_role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.why import Explanation

JSON = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SESSION = "session:"


def of_time(time: datetime | None) -> int | None:
    """Return an instant as milliseconds since 1970."""
    return None if time is None else milliseconds(time)


def time_from(value: object) -> datetime | None:
    """Read an instant.

    Raises:
        TypeError: It is no whole number.
        ValueError: No year between 1 and 9999 has it.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is no time in milliseconds")
    try:
        return _EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        raise ValueError(f"{value!r} is no time in milliseconds that a calendar has") from None


def _instant(value: object) -> datetime:
    time = time_from(value)
    if time is None:
        raise TypeError("a time is missing")
    return time


def of_message(message: Message, standing: Standing | None = None, *, name: str = "") -> JSON:
    """Return a message; without a standing it is one that nobody has seen yet.

    Args:
        message: The message.
        standing: What became of it.
        name: What the session that wrote it is called.
    """
    sender = message.sender
    is_session = sender.name.startswith(_SESSION)
    return {
        "id": message.id,
        "number": message.number,
        "to": message.mailbox.removeprefix(_SESSION),
        "from": sender.name.removeprefix(_SESSION) if is_session else None,
        "fromKind": "session" if is_session else "user",
        "fromVerified": sender.verified,
        "fromLabel": sender.label.removeprefix(_SESSION),
        "fromName": name or None,
        "text": message.body,
        "createdAt": milliseconds(message.created),
        "seenAt": of_time(standing.seen_at) if standing else None,
        "noticedAt": of_time(standing.noticed_at) if standing else None,
        "expiresAt": of_time(message.expires),
        "status": (standing.status if standing else Status.UNSEEN).value,
        "priority": message.priority.value,
        "scope": message.scope.value,
        "type": message.type,
        "subject": message.subject,
        "conversation": message.conversation,
        "parent": message.parent,
        "clientMessageId": message.client_id or None,
    }


def message_from(value: Mapping[str, Any]) -> Message:
    """Read a message."""
    return Message(
        id=value["id"],
        number=value["number"],
        mailbox=value["to"] if is_of_role(value["to"]) else _SESSION + value["to"],
        created=_instant(value["createdAt"]),
        body=value["text"],
        sender=_sender_from(value),
        priority=Priority(value.get("priority", "normal")),
        scope=Scope(value.get("scope", "current_task")),
        subject=value.get("subject", ""),
        type=value.get("type", "guidance"),
        conversation=value.get("conversation", ""),
        parent=value.get("parent", ""),
        expires=time_from(value.get("expiresAt")),
        client_id=value.get("clientMessageId") or "",
    )


def _sender_from(value: Mapping[str, Any]) -> Sender:
    is_verified = value.get("fromVerified") is True
    if value["fromKind"] == "session":
        return Sender(_SESSION + value["from"], is_verified)
    return Sender("human", True) if is_verified else Sender("user", False)


def entry_from(value: Mapping[str, Any]) -> Entry:
    """Read a message with what became of it."""
    seen = time_from(value.get("seenAt"))
    status = Status(value.get("status", Status.SEEN if seen else Status.UNSEEN))
    return Entry(message_from(value), Standing(status, noticed_at=time_from(value.get("noticedAt")), seen_at=seen))


def of_counts(counts: Counts) -> JSON:
    """Return a mailbox's numbers."""
    return {
        "pending": counts.pending,
        "unseen": counts.unseen,
        "oldestUnseenAt": of_time(counts.oldest_unseen),
        "total": counts.total,
        "highWater": counts.high_water,
    }


def counts_from(value: Mapping[str, Any]) -> Counts:
    """Read a mailbox's numbers."""
    return Counts(
        total=value.get("total", 0),
        unseen=value["unseen"],
        pending=value["pending"],
        high_water=value.get("highWater", 0),
        oldest_unseen=time_from(value.get("oldestUnseenAt")),
    )


def of_session(session: Session) -> JSON:
    """Return a session as it was registered: nothing here changes because of mail."""
    process, latch = session.process, session.latch
    return {
        "id": session.id,
        "owner": session.owner,
        "mode": session.vendor,
        "name": session.name,
        "workingDir": session.worktree,
        "parentSessionId": session.parent or None,
        "process": process._asdict() if process else None,
        "createdAt": milliseconds(session.created),
        "lastActivityAt": milliseconds(session.heartbeat),
        "detachedAt": of_time(session.detached),
        "turn": latch.turn,
        "turnEndedAt": of_time(latch.ended),
        "turnEndSource": latch.source.value if latch.source else None,
        "blocked": session.blocked or None,
        "openTodos": session.open_todos,
        "totalTodos": session.total_todos,
        "event": session.event,
    }


def session_from(value: Mapping[str, Any]) -> Session:
    """Read a session."""
    process, source = value.get("process"), value.get("turnEndSource")
    return Session(
        id=value["id"],
        owner=value.get("owner", ""),
        vendor=value.get("mode", ""),
        name=value.get("name", ""),
        worktree=value.get("workingDir", ""),
        parent=value.get("parentSessionId") or "",
        process=Process(process["host"], process["pid"], process["started"]) if process else None,
        created=_instant(value["createdAt"]),
        heartbeat=_instant(value["lastActivityAt"]),
        detached=time_from(value.get("detachedAt")),
        latch=Latch(value.get("turn", 0), time_from(value.get("turnEndedAt")), TurnSource(source) if source else None),
        blocked=value.get("blocked") or "",
        open_todos=value.get("openTodos", 0),
        total_todos=value.get("totalTodos", 0),
        parked_since=time_from(value.get("parkedSince")),
        parked_until=time_from(value.get("parkedUntil")),
        event=value.get("event", 0),
    )


def of_state(row: Row) -> JSON:
    """Return a session with what is proven of its process; nothing here changes because of mail."""
    is_over = row.presence in (Presence.GONE, Presence.DETACHED)
    return {
        **of_session(row.session),
        "presence": row.presence.value,
        "state": row.state,
        # The words of the published API, which knows no others.
        "status": "stopped" if is_over else "idle" if row.is_idle else "busy",
    }


def of_row(row: Row) -> JSON:
    """Return a session with the numbers of its mailbox."""
    counts = row.counts
    return {
        **of_state(row),
        "reason": row.reason.value if row.reason else None,
        "inboxPending": counts.pending if row.is_counted else None,
        "inboxUnseen": counts.unseen if row.is_counted else None,
        "inboxTotal": counts.total if row.is_counted else None,
        "inboxHighWater": counts.high_water if row.is_counted else None,
        "oldestUnseenAt": of_time(counts.oldest_unseen),
        "parked": row.is_parked,
        "parkedSince": of_time(row.session.parked_since) if row.is_parked else None,
        "parkedUntil": of_time(row.session.parked_until) if row.is_parked else None,
        "waitsFor": list(row.waits_for),
        "roles": _of_role_mail(row),
    }


def row_from(value: Mapping[str, Any]) -> Row:
    """Read a session with the numbers of its mailbox, or without them where the server does not tell any."""
    is_counted = value.get("inboxUnseen") is not None and value.get("inboxPending") is not None
    counts = Counts(
        total=value.get("inboxTotal") or 0,
        unseen=value["inboxUnseen"] if is_counted else 0,
        pending=value["inboxPending"] if is_counted else 0,
        high_water=value.get("inboxHighWater") or 0,
        oldest_unseen=time_from(value.get("oldestUnseenAt")),
    )
    waits_for = tuple(value.get("waitsFor", ()))
    presence = Presence(value.get("presence", "unknown"))
    roles = tuple(RoleMail(one["role"], counts_from(one)) for one in value.get("roles", ()))
    return Row(session_from(value), presence, counts, value.get("parked") is True, waits_for, is_counted, roles)


def _of_role_mail(row: Row) -> list[JSON]:
    return [{"role": one.role, **of_counts(one.counts)} for one in row.roles]


def of_summary(rows: list[Row]) -> JSON:
    """Return the numbers of all mailboxes by session, with those of the roles that it holds, and nothing else."""
    return {
        "sessions": {
            row.session.id: {
                "pending": row.counts.pending,
                "unseen": row.counts.unseen,
                "oldestUnseenAt": of_time(row.counts.oldest_unseen),
                "parked": row.is_parked,
                "parkedSince": of_time(row.session.parked_since) if row.is_parked else None,
                # The published summary knows no roles: who holds none is told of as there.
                **({"roles": _of_role_mail(row)} if row.roles else {}),
            }
            for row in rows
        }
    }


def of_arrival(arrival: Arrival) -> JSON:
    """Return what a session says of itself, as it is asked with; what is empty is left out."""
    value = {
        "id": arrival.id,
        "mode": arrival.vendor,
        "name": arrival.name,
        "workingDir": arrival.worktree,
        "parentSessionId": arrival.parent,
        "process": arrival.process._asdict() if arrival.process else None,
        "secretDigest": arrival.secret_digest,
    }
    return {name: one for name, one in value.items() if one}


def of_draft(draft: Draft, *, allow_warnings: bool = False) -> JSON:
    """Return a draft as it is asked with; who it is from is not the draft's to say."""
    value: JSON = {"text": draft.body}
    if draft.priority is not Priority.NORMAL:
        value["priority"] = draft.priority.value
    if draft.scope is not Scope.CURRENT_TASK:
        value["scope"] = draft.scope.value
    optional = {
        "subject": draft.subject,
        "conversation": draft.conversation,
        "parent": draft.parent,
        "expiresAt": of_time(draft.expires),
        "clientMessageId": draft.client_id,
        "allowWarnings": allow_warnings,
    }
    return value | {name: one for name, one in optional.items() if one}


def of_handed(handed: Handed) -> JSON:
    """Return the answer to a post."""
    return {
        "message": of_message(handed.posted.message),
        "duplicate": handed.posted.duplicate,
        **of_counts(handed.counts),
        "session": of_session(handed.to),
        "presence": handed.presence.value,
    }


def handed_from(value: Mapping[str, Any]) -> Handed:
    """Read the answer to a post."""
    posted = Posted(message_from(value["message"]), value.get("duplicate") is True)
    presence = Presence(value.get("presence", "unknown"))
    return Handed(posted, session_from(value["session"]), counts_from(value), presence)


def of_reading(reading: Reading) -> JSON:
    """Return the answer to a read; the numbers are those before anything of it is marked seen."""
    return {
        "messages": [
            of_message(entry.message, entry.standing, name=reading.names.get(entry.message.sender.name, ""))
            for entry in reading.entries
        ],
        **of_counts(reading.counts),
        "peek": reading.is_peek,
        "leftOut": reading.left_out,
        "truncated": reading.left_out > 0,
        "timedOut": reading.timed_out,
        "waitedMs": round(reading.waited * 1000),
    }


def reading_from(value: Mapping[str, Any]) -> Reading:
    """Read the answer to a read."""
    return Reading(
        tuple(entry_from(one) for one in value["messages"]),
        counts_from(value),
        is_peek=value["peek"] is True,
        left_out=value.get("leftOut", 0),
        timed_out=value.get("timedOut") is True,
        waited=value.get("waitedMs", 0) / 1000,
        names={_SESSION + one["from"]: str(one["fromName"]) for one in value["messages"] if one.get("fromName")},
    )


def of_cleared(cleared: Cleared) -> JSON:
    """Return the answer to an acknowledgement."""
    return {"removed": cleared.removed, **of_counts(cleared.counts)}


def cleared_from(value: Mapping[str, Any]) -> Cleared:
    """Read the answer to an acknowledgement."""
    return Cleared(value["removed"], counts_from(value))


def of_trace(trace: Trace) -> JSON:
    """Return what became of a message, as its sender may know."""
    return {
        "messageId": trace.message_id,
        "to": trace.to,
        "createdAt": milliseconds(trace.created),
        "state": trace.fate.value,
        "at": of_time(trace.at),
        "decision": trace.decision.value if trace.decision else None,
        "action": trace.action.value if trace.action else None,
    }


def trace_from(value: Mapping[str, Any]) -> Trace:
    """Read what became of a message."""
    decision, action = value.get("decision"), value.get("action")
    return Trace(
        value["messageId"],
        value["to"],
        _instant(value["createdAt"]),
        Fate(value["state"]),
        time_from(value.get("at")),
        Decision(decision) if decision else None,
        Action(action) if action else None,
    )


def of_explanation(explanation: Explanation) -> JSON:
    """Return why a message was not answered."""
    return {
        "messageId": explanation.message_id,
        "mailbox": explanation.mailbox or None,
        "cause": explanation.cause,
        "sentence": explanation.sentence,
        "evidence": list(explanation.evidence),
        "command": explanation.command or None,
    }


def explanation_from(value: Mapping[str, Any]) -> Explanation:
    """Read why a message was not answered."""
    from restante.domain.why import Explanation

    return Explanation(
        value["messageId"],
        value["cause"],
        value["sentence"],
        tuple(map(str, value["evidence"])),
        value.get("command") or "",
        value.get("mailbox") or "",
    )


def of_watched(watched: Watched) -> JSON:
    """Return what happened to sessions."""
    return {
        "cursor": watched.cursor,
        "sessions": [of_row(row) for row in watched.rows],
        "gone": list(watched.gone),
        "timedOut": watched.timed_out,
    }


def watched_from(value: Mapping[str, Any]) -> Watched:
    """Read what happened to sessions."""
    rows = tuple(row_from(one) for one in value["sessions"])
    return Watched(rows, tuple(value["gone"]), value["cursor"], timed_out=value.get("timedOut") is True)


def of_persistence(persistence: Persistence) -> JSON:
    """Return whether the mail of sessions is kept on disk."""
    return {"on": persistence.is_on, "fixed": persistence.is_fixed, "hasServer": persistence.has_server}


def persistence_from(value: Mapping[str, Any]) -> Persistence:
    """Read whether the mail of sessions is kept on disk."""
    return Persistence(value["on"] is True, value.get("fixed") is True, value.get("hasServer") is True)


def of_identity(identity: Identity) -> JSON:
    """Return who asks."""
    return {
        "owner": identity.owner,
        "session": identity.session or None,
        "verified": identity.verified,
        "claimed": identity.claimed or None,
    }


def identity_from(value: Mapping[str, Any]) -> Identity:
    """Read who asks."""
    return Identity(
        value.get("owner", ""), value.get("session") or "", value["verified"] is True, value.get("claimed") or ""
    )
