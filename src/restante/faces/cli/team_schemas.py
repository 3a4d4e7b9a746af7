"""What the commands about teams answer with ``--json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.domain.registry import Presence
from restante.domain.team import Standing
from restante.faces.cli.shapes import FLAG, NUMBER, TEXT, TIME, list_of, or_null, record, words

if TYPE_CHECKING:
    from collections.abc import Mapping

_TALLY = record(queued=NUMBER, noticed=NUMBER, seen=NUMBER, acknowledged=NUMBER)
# How far the mail of a role got.
ROLE_STATUS = record(role=TEXT, tally=_TALLY)


def copies(message: Mapping[str, Any], counts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a post to a role, or to a team, answers."""
    copy = record(
        role=TEXT,
        message=or_null(dict(message)),
        duplicate=FLAG,
        holder=or_null(TEXT),
        counts=dict(counts),
        problem=or_null(TEXT),
    )
    return record(copies=list_of(copy), conversation=TEXT)


def team_schemas(entry: Mapping[str, Any], counts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the schemas, by command, made of those of a message with its standing and of a mailbox's numbers."""
    seat = record(
        role=TEXT,
        joined_at=TIME,
        worktree=TEXT,
        vendor=TEXT,
        generation=NUMBER,
        held=FLAG,
        standing=or_null(words(Standing)),
        session=or_null(TEXT),
        name=TEXT,
        presence=or_null(words(Presence)),
        taken_at=or_null(TIME),
        heard_of_at=or_null(TIME),
        expires_at=or_null(TIME),
        counts=dict(counts),
    )
    return {
        "join": record(role=seat),
        "leave": record(role=TEXT, left=FLAG),
        "team": record(roles=list_of(seat)),
        "act-as": record(role=seat),
        "drop": record(role=TEXT, released=or_null(TEXT)),
        "history": record(messages=list_of(dict(entry)), older=NUMBER),
    }
