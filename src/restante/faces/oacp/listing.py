"""``inbox`` and ``watch``: what waits, and what is new since the last look."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError, UsageError
from restante.faces.oacp.ends import FAILED, USAGE, Flags, clock, fail, home_of, say, say_json, tell

if TYPE_CHECKING:
    import argparse

    from restante.wiring.mailing import Listing, Mail

_WIDEST = 200
_HEAD = ("#", "From", "Type", "Priority", "Subject", "Age")


def inbox(words: list[str]) -> int:
    """List what waits for one agent or all; 1 where the project or agent is unknown."""
    flags = Flags("inbox", "List what waits, in the order of work.")
    flags.add_argument("project")
    whose = flags.add_mutually_exclusive_group(required=True)
    whose.add_argument("--agent")
    whose.add_argument("--all", action="store_true")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    from restante.wiring.mailing import Mail

    try:
        mail = Mail(home_of(given.oacp_dir), given.project, clock())
        found = [mail.waiting(one) for one in (mail.agents() if given.all else [given.agent])]
    except RestanteError as error:
        return fail(error, code=FAILED)
    now = clock().now()
    if given.json:
        agents = [_as_json(one, now) for one in found]
        say_json({"project": given.project, "mode": "all" if given.all else "agent", "agents": agents})
    else:
        say("\n\n".join(_table(one, given.project, now) for one in found))
    return 0


def _as_json(listing: Listing, now: datetime) -> dict[str, object]:
    rows = []
    for row, shown in zip(listing.rows, _shown(listing, now), strict=True):
        one: dict[str, object] = {**shown, "path": f"{listing.path}/{row.name}"}
        if row.standing:
            one["auth"] = row.standing
        if row.error:
            one["load_error"] = row.error
        if not listing.is_held(row) and not row.error:
            one |= {"id": row.id, "expires_at": row.expires or None, "conversation_id": row.conversation or None}
        rows.append(one)
    told: dict[str, object] = {"agent": listing.agent, "inbox_path": listing.path, "verify_mode": listing.mode}
    told["message_count"] = len(rows)
    if listing.policy_error:
        told["policy_error"] = listing.policy_error
    return {**told, "messages": rows}


def _shown(listing: Listing, now: datetime) -> list[dict[str, str]]:
    return [_row(listing, place, now) for place in range(len(listing.rows))]


def _row(listing: Listing, place: int, now: datetime) -> dict[str, str]:
    row = listing.rows[place]
    blank = {"from": "?", "type": "?", "priority": "?"}
    written = datetime.fromtimestamp(row.modified / 1e9, UTC)
    stamp = f"{written:%Y-%m-%dT%H:%M:%SZ}"
    if row.error:
        word = "(invalid YAML)" if "YAML" in row.error else "(unreadable)"
        return {**blank, "subject": word, "created_at_utc": stamp, "age": _age(written, now)}
    if listing.is_held(row):
        held = "(held: unverified under enforce)"
        return {**blank, "subject": held, "created_at_utc": stamp, "age": _age(written, now)}
    said = {"from": row.sender or "?", "type": row.type or "?", "priority": row.priority or "?"}
    return {
        **said,
        "subject": row.subject or "(no subject)",
        "created_at_utc": row.created or "?",
        "age": _age(_time(row.created) or written, now),
    }


def _time(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _age(then: datetime, now: datetime) -> str:
    minutes = max(0, int((now - then).total_seconds() // 60))
    if minutes < 60:
        return f"{minutes}m"
    return f"{minutes // 60}h" if minutes < 48 * 60 else f"{minutes // 1440}d"


def _table(listing: Listing, project: str, now: datetime) -> str:
    count = len(listing.rows)
    head = f"INBOX: {listing.agent} ({project}) — {count} message{'' if count == 1 else 's'}\n"
    if listing.policy_error:
        head += f"\nheld: {_cell(listing.policy_error)}\n"
    if not count:
        return f"{head}\nNo pending messages."
    cells = [list(_HEAD)]
    for number, one in enumerate(_shown(listing, now), 1):
        words = (one["from"], one["type"], one["priority"], one["subject"], one["age"])
        cells.append([str(number), *map(_cell, words)])
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEAD))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([head, lines[0], rule, *lines[1:]])


def _cell(text: str) -> str:
    sound = "".join(one if one.isprintable() else "?" for one in text)
    return sound.replace("|", "\\|")[:_WIDEST]


def watch(words: list[str]) -> int:
    """Tell what arrived since the last look; 0 all well, 1 something could not be read."""
    flags = Flags("watch", "Tell what arrived since the last look. What was told is remembered after it was written.")
    where = flags.add_mutually_exclusive_group(required=True)
    where.add_argument("--project", action="append", dest="projects")
    where.add_argument("--all-projects", action="store_true")
    flags.add_argument("--agent", required=True)
    flags.add_argument("--state-id", default="", help="a cursor of your own; watchers with one cursor share the events")
    flags.add_argument("--since", default="now", help="where a new cursor begins: now, epoch, 30m, an ISO time")
    flags.add_argument("--show-archived", action="store_true", help="tell, too, what left the inbox")
    flags.add_argument("--follow", action="store_true", help="go on until stopped (one project)")
    flags.add_argument("--timeout", type=float, help="with --follow: end after so many seconds")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    from restante.wiring.mailing import Mail, parse_since, projects_with

    home = home_of(given.oacp_dir)
    since = parse_since(given.since, clock().now())
    projects = projects_with(home, given.agent) if given.all_projects else list(dict.fromkeys(given.projects))
    if given.follow and len(projects) != 1:
        flags.error("--follow watches one project")
    is_fine = True
    for project in projects:
        try:
            is_fine &= _watched(Mail(home, project, clock()), given, since)
        except UsageError as error:
            return fail(error, code=USAGE)
        except RestanteError as error:
            _emit({"agent": given.agent, "error": error.message, "event": "error", "project": project}, given.json)
            is_fine = False
    return 0 if is_fine else FAILED


def _watched(mail: Mail, given: argparse.Namespace, since: datetime) -> bool:
    one = mail.watch(given.agent, state_id=given.state_id, show_archived=given.show_archived)

    def emit(event: dict[str, object]) -> None:
        _emit(event, given.json)

    is_fine = one.once(emit, since=since)
    if given.follow:
        for _ in mail.ticks(given.agent, given.timeout):
            is_fine &= one.once(emit, since=since)
    return is_fine


def _emit(event: dict[str, object], as_json: bool) -> None:
    if event["event"] == "error":
        tell(f"ERROR: {event.get('path') or event['project']}: {event['error']}")
    if as_json:
        sys.stdout.write(json.dumps(event, sort_keys=True) + "\n")
    elif event["event"] != "error":
        names = ("project", "agent", "file", "type", "priority")
        words = " ".join(f"{name}={_cell(str(event.get(name)))}" for name in names)
        sys.stdout.write(f"{str(event['event']).upper()} {words} {_cell(str(event.get('subject')))}\n")
    # Only what was written has been told.
    sys.stdout.flush()
