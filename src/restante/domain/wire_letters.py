"""The JSON form of a mailbox as its person looks at it: messages with all that was said of each, and back.

As ``domain.wire``, which has the forms of what is in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.domain.case import Case, Timeline
from restante.domain.message import Reply, Sender
from restante.domain.receipt import Action, Decision, Receipt
from restante.domain.wire import entry_from, of_message, of_time, time_from

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON = dict[str, Any]


def of_timeline(found: Timeline) -> JSON:
    """Return a part of a mailbox."""
    return {"messages": [_of_case(case, found.names) for case in found.cases], "older": found.older}


def timeline_from(value: Mapping[str, Any]) -> Timeline:
    """Read a part of a mailbox."""
    told = value["messages"]
    names = {f"session:{one['from']}": str(one["fromName"]) for one in told if one.get("fromName")}
    return Timeline(tuple(_case_from(one) for one in told), int(value["older"]), names)


def _of_case(case: Case, names: Mapping[str, str]) -> JSON:
    message, standing = case.entry
    return {
        **of_message(message, standing, name=names.get(message.sender.name, "")),
        "acknowledgedAt": of_time(standing.acknowledged_at),
        "withdrawnAt": of_time(standing.withdrawn_at),
        "expiredAt": of_time(standing.expired_at),
        "summary": standing.summary,
        "receipts": [_of_receipt(one) for one in case.receipts],
        "replies": [_of_reply(one) for one in case.replies],
    }


def _case_from(value: Mapping[str, Any]) -> Case:
    entry = entry_from(value)
    receipts = tuple(_receipt_from(one, entry.message.id) for one in value["receipts"])
    standing = entry.standing._replace(
        acknowledged_at=time_from(value.get("acknowledgedAt")),
        withdrawn_at=time_from(value.get("withdrawnAt")),
        expired_at=time_from(value.get("expiredAt")),
        decision=next((one.decision for one in reversed(receipts) if one.decision), None),
        action=next((one.action for one in reversed(receipts) if one.action), None),
        summary=str(value.get("summary") or ""),
    )
    replies = tuple(_reply_from(one, entry.message.id) for one in value["replies"])
    return Case(entry._replace(standing=standing), receipts, replies)


def _of_receipt(receipt: Receipt) -> JSON:
    return {
        "id": receipt.id,
        "at": of_time(receipt.seen_at),
        "decision": receipt.decision.value if receipt.decision else None,
        "action": receipt.action.value if receipt.action else None,
        "summary": receipt.summary,
        "notes": receipt.notes,
        "by": receipt.by,
    }


def _receipt_from(value: Mapping[str, Any], message_id: str) -> Receipt:
    decision, action = value.get("decision"), value.get("action")
    return Receipt(
        str(value["id"]),
        message_id,
        time_from(value["at"]),
        Decision(decision) if decision else None,
        Action(action) if action else None,
        str(value.get("summary") or ""),
        str(value.get("notes") or ""),
        str(value.get("by") or ""),
    )


def _of_reply(reply: Reply) -> JSON:
    return {
        "id": reply.id,
        "createdAt": of_time(reply.created),
        "text": reply.body,
        "from": reply.sender.name,
        "fromVerified": reply.sender.verified,
    }


def _reply_from(value: Mapping[str, Any], message_id: str) -> Reply:
    sender = Sender(str(value["from"]), value.get("fromVerified") is True)
    return Reply(str(value["id"]), message_id, time_from(value["createdAt"]), str(value["text"]), sender)
