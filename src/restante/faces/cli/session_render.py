"""How sessions and what is known of their mail look in a terminal and to a model. No message is ever in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.listing import (
    LONGEST_NAME,
    items_words,
    named,
    role_mail_words,
    short_id,
    state_of,
    turn_end_words,
)
from restante.domain.text import age, iso, one_line, visible
from restante.faces.cli.output import paint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from restante.domain.overview import Row
    from restante.domain.registry import Session

_HEAD = ("NAME", "ID", "AGENT", "STATE", "LAST TURN ENDED", "PENDING", "UNSEEN", "OLDEST UNSEEN", "PARKED")
_COLOURS = {"idle": "cyan", "busy": "green", "gone": "red", "detached": "red", "blocked": "magenta"}
_UNKNOWN = "?"
# Stands only where somebody holds a role.
_ROLES = "UNSEEN FOR ROLES"


def session_table(rows: Sequence[Row], own: str, now: datetime) -> str:
    """Return a line for each session; the caller's own has a star."""
    has_roles = any(row.roles for row in rows)
    lines: list[tuple[str, ...]] = [(*_HEAD, _ROLES) if has_roles else _HEAD]
    for row in rows:
        session, counts = row.session, row.counts
        oldest = "-" if counts.oldest_unseen is None else age(counts.oldest_unseen, now)
        numbers = (str(counts.pending), str(counts.unseen), oldest, _parked(row, now))
        lines.append(
            (
                ("* " if session.id == own else "") + (one_line(session.name, LONGEST_NAME) or "-"),
                short_id(session),
                one_line(session.vendor, 16) or "-",
                state_of(row),
                turn_end_words(row, now),
                *(numbers if row.is_counted else (_UNKNOWN,) * len(numbers)),
                *((str(row.role_unseen) if row.roles else "-",) if has_roles else ()),
            )
        )
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return "".join(_table_line(line, widths) + "\n" for line in lines)


def _table_line(cells: tuple[str, ...], widths: Sequence[int]) -> str:
    padded = [f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)]
    padded[3] = paint(padded[3], _COLOURS.get(cells[3].rstrip("?").partition(":")[0]))
    return "  ".join(padded).rstrip()


def _parked(row: Row, now: datetime) -> str:
    since = row.session.parked_since
    if not row.is_parked:
        return "-"
    return f"since {age(since, now)}" if since else "yes"


def session_text(row: Row, names: Mapping[str, Session], now: datetime) -> str:
    """Return all that is known of one session."""
    session = row.session
    process = session.process
    facts = (
        ("id", visible(session.id)),
        ("name", one_line(session.name, 160)),
        ("agent", one_line(session.vendor, 160)),
        ("worktree", one_line(session.worktree, 400)),
        ("started by", named(names[session.parent]) if session.parent in names else one_line(session.parent, 160)),
        ("owner", one_line(session.owner, 160)),
        ("state", state_of(row)),
        ("turn ended", turn_end_words(row, now) if session.latch.ended else ""),
        ("turns ended", str(session.latch.turn)),
        (
            "process",
            f"{process.pid} on {one_line(process.host, 80)}: {row.presence}" if process else row.presence.value,
        ),
        ("registered", iso(session.created)),
        ("heard of", age(session.heartbeat, now)),
        ("detached", iso(session.detached) if session.detached else ""),
        ("items", f"{items_words(session)} open" if session.total_todos or session.open_todos else ""),
        ("mail", f"{row.counts.pending} pending, {row.counts.unseen} unseen" if row.is_counted else _UNKNOWN),
        ("roles", role_mail_words(row) or ", ".join(one.role for one in row.roles)),
        ("waits for", ", ".join(named(names[one]) if one in names else one_line(one, 60) for one in row.waits_for)),
    )
    return "".join(f"{name:<12} {value}\n" for name, value in facts if value)
