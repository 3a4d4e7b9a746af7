"""The worktrees of this machine: what is installed in each, what is wrong, and the way to install."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from starlette.responses import RedirectResponse

from restante.domain.errors import Forbidden, RestanteError, UsageError
from restante.faces.web.grounds import known_worktrees
from restante.faces.web.rendering import HEADERS, ROOT, page
from restante.programs import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from restante.domain.mailbox import Counts
    from restante.domain.session import Thread
    from restante.domain.setup import Check
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub
    from restante.office import Office


class Place(NamedTuple):
    """A worktree in the list.

    Attributes:
        path: Its top level.
        counts: The numbers of its mailbox; ``None`` where it cannot be opened.
        changes: How many files installing would change; 0 where all is installed.
        problem: Why it cannot be opened.
    """

    path: str
    counts: Counts | None
    changes: int
    problem: str = ""


class Detail(NamedTuple):
    """Everything about one worktree: the plan of installing as a diff, what doctor found, Codex threads."""

    path: str
    diff: str
    digest: str
    notes: tuple[str, ...]
    checks: Sequence[Check]
    threads: Sequence[Thread]
    threads_problem: str


async def show(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Show the list; with a path, that worktree."""
    path = request.query_params.get("path", "")
    if path:
        await _check(hub, visitor, path)
        found = await hub.apart(lambda: _detail(hub, path))
        return page("worktree.html", {"it": found, "done": request.query_params.get("done") == "1"}, visitor)
    places = await known_worktrees(hub, visitor)
    listed = await hub.apart(lambda: [_place(hub, one) for one in places])
    return page("worktrees.html", {"places": listed, "is_shared": bool(visitor.owner)}, visitor)


async def install(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Install the hooks of the agent programs in a worktree, after the person saw what that changes."""
    form = await request.form()
    path, seen = str(form.get("path", "")), str(form.get("diff", ""))
    await _check(hub, visitor, path)

    def work() -> None:
        office = _office(hub, path)
        plan = office.plan_install(DEFAULTS)
        if _digest(plan.diff) != seen:
            raise UsageError("the files changed since you looked", remedy="look again, then install")
        office.apply(plan)

    await hub.apart(work)
    return RedirectResponse(f"{ROOT}/worktrees?path={quote(path, safe='')}&done=1", 303, headers=HEADERS)


async def _check(hub: Hub, visitor: Visitor, path: str) -> None:
    if visitor.owner:
        raise Forbidden("an account sees no files of this machine", remedy="restante ui, as the person of this machine")
    if path not in await known_worktrees(hub, visitor):
        raise UsageError(f"{path!r} is no worktree that is known here", remedy="choose one of the list")


def _office(hub: Hub, path: str) -> Office:
    from restante.wiring import open_office

    return open_office(path, environment=hub.environment)


def _place(hub: Hub, path: str) -> Place:
    try:
        office = _office(hub, path)
        return Place(path, office.counts(), len(office.plan_install(DEFAULTS).changes))
    except RestanteError as error:
        return Place(path, None, 0, error.message)


def _detail(hub: Hub, path: str) -> Detail:
    office = _office(hub, path)
    plan = office.plan_install(DEFAULTS)
    threads: Sequence[Thread] = ()
    problem = ""
    try:
        threads = [one for one in office.threads() if f"{one.directory}/".startswith(f"{path}/")]
    except RestanteError as error:
        problem = error.message
    return Detail(path, plan.diff, _digest(plan.diff), plan.notes, office.checks(), threads, problem)


def _digest(diff: str) -> str:
    from hashlib import sha256

    return sha256(diff.encode("utf-8", "replace")).hexdigest()
