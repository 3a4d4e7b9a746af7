"""``install``, ``uninstall``, ``doctor``, ``threads``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from restante.domain.errors import NothingThere, NoWorktree, UsageError
from restante.domain.setup import Plan
from restante.domain.text import age, one_line, visible
from restante.faces.cli import switches
from restante.faces.cli.command import TOOLS
from restante.faces.cli.inputs import confirmed, office_of
from restante.faces.cli.output import paint, say, tell
from restante.programs import PROGRAMS

if TYPE_CHECKING:
    from restante.domain.setup import Check
    from restante.office import Office


# What may come of --trust: the word for programs, and what a person reads.
TRUST_OUTCOMES = {
    "trusted": "it trusts them now",
    "already_trusted": "it trusted them already; nothing was changed",
    "left": "left as it was",
    "would_change": "would change as shown",
}


def install(
    agents: str,
    dry_run: bool,
    check: bool,
    trust: bool,
    yes: bool,
    sessions: str | None,
    persist: str | None,
    skills: bool,
    mcp: str | None,
    directory: str,
    as_json: bool,
) -> int:
    """Teach the agent programs about this worktree's mailbox: hooks, a block in AGENTS.md, a skill, ignore rules.

    Everything else in those files stays as it is, byte for byte. Installing twice changes nothing.
    """
    names = [name.strip() for name in agents.split(",") if name.strip()]
    _check_flags(names, dry_run=dry_run, check=check, trust=trust, yes=yes)
    switches.check(sessions, persist)
    if check and (sessions or persist):
        raise UsageError("--check only looks; --sessions or --persist was given too", remedy="give one of them")
    office = office_of(directory)
    if mcp not in (None, *TOOLS):
        raise UsageError(f"--mcp {mcp!r} is none of its words", remedy=f"--mcp, or one of: {', '.join(TOOLS)}")
    plan = office.plan_install(names, intake=skills, tools=mcp or "")
    if trust:
        # What keeps it from being worked out must be known before anything is written.
        _trust_plan(office)
    if not (dry_run or check):
        office.apply(plan)
    if not as_json:
        done = "is missing or out of date" if check else "would change" if dry_run else "written"
        _print_plan(plan, done=done, diff=dry_run)
    trusting, outcome = _trust(office, dry_run=dry_run, yes=yes) if trust else (None, "")
    chosen = None
    if not check:
        may_ask = sys.stdin.isatty() and not (yes or as_json or dry_run)
        chosen = switches.choose(sessions, persist, may_ask=may_ask, may_change=not dry_run, yes=yes)
    if as_json:
        from restante.faces.cli.jsonable import print_json

        said = {**_of_plan(trusting, diff=True), "outcome": outcome} if trusting else None
        stand = chosen._asdict() if chosen else None
        print_json({**_of_plan(plan, diff=dry_run), "trust": said, "switches": stand})
    elif outcome:
        tell(f"Codex and the hooks of this worktree: {TRUST_OUTCOMES[outcome]}")
    if plan.changes and not (as_json or dry_run or check):
        tell('next: leave guidance with restante send "..."; restante doctor tells whether the agents will see it')
    return 1 if check and plan.changes else 0


def _check_flags(names: list[str], *, dry_run: bool, check: bool, trust: bool, yes: bool) -> None:
    """Refuse what cannot be done together, before anything is."""
    others = [flag for flag, given in (("--dry-run", dry_run), ("--trust", trust), ("--yes", yes)) if given]
    if check and others:
        raise UsageError(f"--check only looks; {' and '.join(others)} was given too", remedy="give one of them")
    asking = [one for one in PROGRAMS.values() if one.asks_trust]
    if trust and not any(one.name in names for one in asking):
        raise UsageError(
            f"--trust is for {asking[0].title}, which --agent leaves out; others need no such entry",
            remedy=f"leave out --trust, or name {asking[0].name}",
        )
    if trust and not (yes or dry_run or sys.stdin.isatty()):
        raise UsageError("trusting the hooks needs your word", remedy="run it in a terminal, or add --yes")


def _trust_plan(office: Office) -> Plan | None:
    """Return what trusting changes; ``None`` while the hooks that it would speak of are not installed."""
    try:
        return office.plan_trust()
    except NothingThere:
        return None


def _trust(office: Office, *, dry_run: bool, yes: bool) -> tuple[Plan, str]:
    """Show what trusting changes, do it if the person wants it, and return it with what came of it."""
    plan = _trust_plan(office) if dry_run else office.plan_trust()
    if plan is None:
        note = "what trusting the hooks would change can be told once they are installed"
        tell(f"note: {note}")
        return Plan((), (note,)), "would_change"
    if not plan.changes:
        return plan, "already_trusted"
    tell(plan.diff.removesuffix("\n"))
    for note in plan.notes:
        tell(f"note: {visible(note)}")
    if dry_run:
        return plan, "would_change"
    if not (yes or confirmed("Change your own Codex configuration as shown?")):
        return plan, "left"
    office.apply(plan)
    return plan, "trusted"


def uninstall(dry_run: bool, directory: str, as_json: bool) -> None:
    """Take out everything that install put in. Messages stay."""
    try:
        office = office_of(directory)
    except NoWorktree:
        # Taking down what is gone already is done.
        _answer(Plan((), ("no worktree here, so there is nothing to take out",)), done="", as_json=as_json)
        return
    plan = office.plan_uninstall()
    if not dry_run:
        office.apply(plan)
    _answer(plan, done="would change" if dry_run else "restored", as_json=as_json, diff=dry_run)


def _answer(plan: Plan, *, done: str, as_json: bool, diff: bool = False) -> None:
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json(_of_plan(plan, diff=diff))
    else:
        _print_plan(plan, done=done, diff=diff)


def _of_plan(plan: Plan, *, diff: bool) -> dict[str, object]:
    changes = [{"path": change.path, "what": change.what} for change in plan.changes]
    return {"changes": changes, "notes": list(plan.notes), "diff": plan.diff if diff else None}


def _print_plan(plan: Plan, *, done: str, diff: bool) -> None:
    if diff:
        say(plan.diff, end="")
    for change in plan.changes:
        say(f"{change.path}: {change.what} ({done})")
    if not plan.changes:
        say("nothing to change")
    for note in plan.notes:
        tell(f"note: {visible(note)}")


def doctor(directory: str, as_json: bool) -> int:
    """Check the mailbox, what is installed, and sessions; each failing line names the command that mends it."""
    from restante.wiring.health import session_checks

    checks = [*office_of(directory).checks(), *session_checks(os.environ)]
    failed = any(check.ok is False for check in checks)
    if as_json:
        from restante.faces.cli.jsonable import of_check, print_json

        print_json({"ok": not failed, "checks": [of_check(check) for check in checks]})
        return 1 if failed else 0
    for check in checks:
        say(_check_line(check))
    return 1 if failed else 0


def _check_line(check: Check) -> str:
    word, colour = {True: ("ok  ", "green"), False: ("FAIL", "red"), None: ("?   ", "yellow")}[check.ok]
    remedy = f"\n       mend: {visible(check.remedy)}" if check.remedy and check.ok is not True else ""
    return f"{paint(word, colour)} {check.name}: {visible(check.detail)}{remedy}"


def threads(directory: str, as_json: bool) -> None:
    """List Codex threads with their worktree and whether mail waits there.

    Asks Codex's App Server, by a client that can send nothing but questions.
    """
    office = office_of(directory, anywhere=True)
    found = office.threads()
    if as_json:
        from restante.faces.cli.jsonable import of_thread, print_json

        print_json({"threads": [of_thread(thread) for thread in found]})
        return
    now = office.clock.now()
    for thread in found:
        waiting = f"{thread.pending} waiting" if thread.pending else "no mail"
        mail = "no worktree" if thread.pending is None else waiting
        loaded = "loaded" if thread.loaded else "not loaded"
        say(f"{thread.id}  {visible(thread.status)}, {loaded}, {age(thread.updated, now)}, {mail}")
        say(f"    {visible(thread.directory)}  {one_line(thread.title, 60)}")
    if not found:
        say("no threads")
