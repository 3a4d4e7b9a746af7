"""Posting to roles: who may post what, and what makes the copies of one post to a team belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import UsageError

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.message import Draft
    from restante.domain.registry import Identity
    from restante.domain.team import Member
    from restante.ports import Ids


def stamped(draft: Draft, identity: Identity) -> Draft:
    """Return a draft as it is posted: from whom it really is. Mail to a role lasts until its addressee answers."""
    sender = identity.sender
    return draft._replace(sender=sender, type="guidance" if sender.name == "human" else "note")


def is_own(member: Member, identity: Identity) -> bool:
    """Tell whether a role is one of the caller's own."""
    return member.lease is not None and bool(identity.session) and member.lease.session == identity.session


def check_other(member: Member, identity: Identity) -> None:
    """Refuse to let a session post to itself.

    Raises:
        UsageError: It holds the role.
    """
    if is_own(member, identity):
        raise UsageError(
            f"you hold {member.role} yourself", remedy=f"for whoever holds it next: restante drop {member.role} first"
        )


def conversation(draft: Draft, team: str, ids: Ids, now: datetime) -> str:
    """Return what the copies of one post to a team have in common; posted again under its client id, the same.

    Args:
        draft: What is posted, with its sender.
        team: To which team.
        ids: Where ids come from.
        now: The time.
    """
    if not draft.client_id:
        return f"team_{ids.new('msg', now).removeprefix('msg_')}"
    from hashlib import sha256

    parts = (team, draft.sender.name, draft.client_id)
    return f"team_{sha256(chr(0).join(parts).encode()).hexdigest()[:26]}"
