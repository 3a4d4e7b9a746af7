"""Domain values as JSON; the forms that docs/reference/json.md documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.domain.text import iso
from restante.faces.cli.output import json_line, say

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.case import Case, Snapshot
    from restante.domain.lifecycle import Standing
    from restante.domain.mailbox import Change, Counts, Entry
    from restante.domain.message import Message, Reply
    from restante.domain.receipt import Receipt
    from restante.domain.repeat import Repeat
    from restante.domain.session import Thread
    from restante.domain.setup import Check


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON document as one line."""
    say(json_line(value))


def of_time(time: datetime | None) -> str | None:
    """Return an instant as text."""
    return iso(time) if time else None


def of_message(message: Message) -> dict[str, Any]:
    """Return a message."""
    return {
        "id": message.id,
        "number": message.number,
        "mailbox": message.mailbox,
        "from": message.sender.name,
        "verified": message.sender.verified,
        "created_at": iso(message.created),
        "expires_at": of_time(message.expires),
        "priority": message.priority.value,
        "scope": message.scope.value,
        "type": message.type,
        "subject": message.subject,
        "conversation": message.conversation,
        "parent": message.parent,
        "client_id": message.client_id,
        "body": message.body,
    }


def of_standing(standing: Standing) -> dict[str, Any]:
    """Return what became of a message."""
    return {
        "status": standing.status.value,
        "noticed_at": of_time(standing.noticed_at),
        "seen_at": of_time(standing.seen_at),
        "acknowledged_at": of_time(standing.acknowledged_at),
        "withdrawn_at": of_time(standing.withdrawn_at),
        "expired_at": of_time(standing.expired_at),
        "decision": standing.decision.value if standing.decision else None,
        "action": standing.action.value if standing.action else None,
        "summary": standing.summary,
    }


def of_entry(entry: Entry) -> dict[str, Any]:
    """Return a message with what became of it."""
    return {**of_message(entry.message), **of_standing(entry.standing)}


def of_receipt(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt."""
    return {
        "id": receipt.id,
        "message_id": receipt.message_id,
        "seen_at": of_time(receipt.seen_at),
        "decision": receipt.decision.value if receipt.decision else None,
        "action": receipt.action.value if receipt.action else None,
        "summary": receipt.summary,
        "notes": receipt.notes,
        "by": receipt.by,
    }


def of_reply(reply: Reply) -> dict[str, Any]:
    """Return a reply."""
    return {
        "id": reply.id,
        "to": reply.to or None,
        "created_at": of_time(reply.created),
        "from": reply.sender.name,
        "body": reply.body,
    }


def of_case(case: Case) -> dict[str, Any]:
    """Return all there is to know of a message."""
    return {
        **of_entry(case.entry),
        "receipts": [of_receipt(receipt) for receipt in case.receipts],
        "replies": [of_reply(reply) for reply in case.replies],
    }


def of_counts(counts: Counts) -> dict[str, Any]:
    """Return a mailbox's numbers."""
    return {
        "total": counts.total,
        "pending": counts.pending,
        "unseen": counts.unseen,
        "high_water": counts.high_water,
        "oldest_unseen_at": of_time(counts.oldest_unseen),
        "archived": counts.archived,
    }


def of_repeat(repeat: Repeat) -> dict[str, Any]:
    """Return a repeat."""
    return {
        "id": repeat.id,
        "active": repeat.active,
        "interval_ms": repeat.interval_ms,
        "next_run_at": iso(repeat.next_run),
        "last_sent_at": of_time(repeat.last_sent),
        "sent_count": repeat.sent_count,
        "priority": repeat.priority.value,
        "scope": repeat.scope.value,
        "source_message_id": repeat.source_message_id or None,
        "allow_warnings": repeat.allow_warnings,
        "body": repeat.body,
    }


def of_change(change: Change) -> dict[str, Any]:
    """Return one thing that happened."""
    value: dict[str, Any] = {
        "event": change.kind.value,
        "at": of_time(change.at),
        "message_id": change.message_id or None,
    }
    if change.message:
        value["message"] = of_message(change.message)
    if change.receipt:
        value["receipt"] = of_receipt(change.receipt)
    if change.reply:
        value["reply"] = of_reply(change.reply)
    return value


def of_snapshot(snapshot: Snapshot) -> dict[str, Any]:
    """Return a mailbox as a whole."""
    return {
        "mailbox": snapshot.address,
        "counts": of_counts(snapshot.counts),
        "messages": [of_case(case) for case in snapshot.cases],
        "unattached_replies": [of_reply(reply) for reply in snapshot.unattached_replies],
        "repeats": [of_repeat(repeat) for repeat in snapshot.repeats],
        "faults": [{"source": one.source, "line": one.line, "reason": one.reason} for one in snapshot.faults],
        "cursor": snapshot.cursor,
    }


def of_check(check: Check) -> dict[str, Any]:
    """Return one line of doctor."""
    return {"name": check.name, "ok": check.ok, "detail": check.detail, "remedy": check.remedy}


def of_thread(thread: Thread) -> dict[str, Any]:
    """Return a thread; ``pending`` is ``None`` where its directory is no worktree."""
    return {
        "id": thread.id,
        "agent": thread.agent,
        "title": thread.title,
        "directory": thread.directory,
        "status": thread.status,
        "loaded": thread.loaded,
        "updated_at": of_time(thread.updated),
        "pending": thread.pending,
    }
