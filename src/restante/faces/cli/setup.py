"""``install``, ``uninstall``, ``doctor``, ``threads``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError, UsageError
from restante.domain.text import age, one_line, visible
from restante.faces.cli.inputs import confirmed, office_of
from restante.faces.cli.output import paint, say, tell

if TYPE_CHECKING:
    from restante.domain.setup import Check, Plan


def install(agents: str, dry_run: bool, check: bool, trust: bool, yes: bool, directory: str, as_json: bool) -> int:
    """Teach the agent programs about this worktree's mailbox: hooks, a block in AGENTS.md, ignore rules.

    Everything else in those files stays as it is, byte for byte. Installing twice changes nothing.
    """
    office = office_of(directory)
    plan = office.plan_install([name.strip() for name in agents.split(",") if name.strip()])
    if check:
        _tell(plan, done="is missing or out of date", as_json=as_json)
        return 1 if plan.changes else 0
    if dry_run:
        _tell(plan, done="would change", as_json=as_json, diff=True)
    else:
        office.apply(plan)
        _tell(plan, done="written", as_json=as_json)
    if trust:
        trusting = office.plan_trust()
        if not trusting.changes:
            tell("the hooks are trusted already")
        elif not dry_run and (yes or _confirmed(trusting)):
            office.apply(trusting)
            tell("Codex trusts the hooks of this worktree now")
        elif dry_run:
            _tell(trusting, done="would change", as_json=as_json, diff=True)
    return 0


def _confirmed(plan: Plan) -> bool:
    import sys

    tell(_diff(plan))
    if not sys.stdin.isatty():
        raise UsageError("trusting the hooks needs your word", remedy="run it in a terminal, or add --yes")
    return confirmed("Change your own Codex configuration as shown?")


def uninstall(dry_run: bool, directory: str, as_json: bool) -> None:
    """Take out everything that install put in. Messages stay."""
    try:
        office = office_of(directory)
    except RestanteError as error:
        # Taking down what is gone already is done.
        if error.code != "no_worktree":
            raise
        tell("nothing to take out: no worktree here")
        return
    plan = office.plan_uninstall()
    if not dry_run:
        office.apply(plan)
    _tell(plan, done="would change" if dry_run else "restored", as_json=as_json, diff=dry_run)


def _tell(plan: Plan, *, done: str, as_json: bool, diff: bool = False) -> None:
    if as_json:
        from restante.faces.cli.jsonable import print_json

        changes = [{"path": change.path, "what": change.what} for change in plan.changes]
        print_json({"changes": changes, "notes": list(plan.notes), "diff": _diff(plan) if diff else None})
        return
    if diff:
        say(_diff(plan), end="")
    for change in plan.changes:
        say(f"{change.path}: {change.what} ({done})")
    if not plan.changes:
        say("nothing to change")
    for note in plan.notes:
        tell(f"note: {visible(note)}")


def _diff(plan: Plan) -> str:
    from difflib import unified_diff

    lines: list[str] = []
    for change in plan.changes:
        before = (change.before or b"").decode(errors="backslashreplace").splitlines()
        after = (change.after or b"").decode(errors="backslashreplace").splitlines()
        names = (
            "/dev/null" if change.before is None else change.path,
            "/dev/null" if change.after is None else change.path,
        )
        lines.extend(visible(line) for line in unified_diff(before, after, *names, lineterm=""))
    return "\n".join(lines) + "\n" if lines else ""


def doctor(directory: str, as_json: bool) -> int:
    """Check the mailbox and what is installed; each failing line names the command that mends it."""
    checks = office_of(directory).checks()
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
    from datetime import UTC, datetime

    found = [(thread, _pending(thread.directory)) for thread in office_of(directory).threads()]
    if as_json:
        from restante.faces.cli.jsonable import of_thread, print_json

        print_json({"threads": [of_thread(thread, pending) for thread, pending in found]})
        return
    now = datetime.now(UTC)
    for thread, pending in found:
        mail = "no worktree" if pending is None else f"{pending} waiting" if pending else "no mail"
        loaded = "loaded" if thread.loaded else "not loaded"
        say(f"{thread.id}  {visible(thread.status)}, {loaded}, {age(thread.updated, now)}, {mail}")
        say(f"    {visible(thread.directory)}  {one_line(thread.title, 60)}")
    if not found:
        say("no threads")


def _pending(directory: str) -> int | None:
    try:
        return office_of(directory).counts().pending
    except RestanteError:
        return None
