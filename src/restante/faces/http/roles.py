"""Handlers of teams: roles, who holds them, and their mail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from restante.domain.team import EVERYBODY
from restante.domain.wire import of_cleared, of_counts
from restante.domain.wire_roles import of_copy, of_entry, of_role_reading, of_seat
from restante.faces.http.requests import MOST_IDS, flag_in, ids_in, number_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.faces.http.asking import Ask
    from restante.faces.http.requests import AckBody, JoinBody, PostBody, SeenBody
    from restante.roster import Roster

_Result = TypeVar("_Result")

_MOST_HISTORY = 1000


async def _ask(ask: Ask, work: Callable[[Roster], _Result]) -> _Result:
    """Ask the roster in the caller's name."""
    return await ask.run(lambda exchange, window: work(exchange.roster(window.identity)))


def _role(ask: Ask) -> str:
    return f"{ask.params['team']}/{ask.params['role']}"


async def listed(ask: Ask) -> dict[str, Any]:
    """List the roles of a team, or of all teams."""
    team = ask.query.get("team", "")
    await ask.admit()
    return {"roles": [of_seat(seat) for seat in await _ask(ask, lambda roster: roster.seats(team))]}


async def mail(ask: Ask) -> dict[str, Any]:
    """Tell the pending mail of all roles that the caller holds; marks nothing."""
    limit = number_in(ask.query, "limit", least=1)
    await ask.admit()

    def work(roster: Roster) -> list[dict[str, Any]]:
        return [of_role_reading(one, roster.name_of) for one in roster.readings(limit=limit)]

    return {"readings": await _ask(ask, work)}


async def places(ask: Ask) -> dict[str, Any]:
    """Tell in which of the caller's roles messages are; refuse, where asked, those of other roles."""
    ids = ids_in(ask.query, "ids", MOST_IDS)
    refuses = flag_in(ask.query, "refuse")
    await ask.admit()

    def work(roster: Roster) -> dict[str, str]:
        if refuses:
            roster.check_not_of_others(ids)
        return roster.locate(ids)

    return {"places": await _ask(ask, work)}


async def one(ask: Ask) -> dict[str, Any]:
    """Tell one role."""
    await ask.admit()
    return of_seat(await _ask(ask, lambda roster: roster.seat(_role(ask))))


async def join(ask: Ask) -> dict[str, Any]:
    """Make a role a member of its team; a session also takes it."""
    body: JoinBody = await ask.body()
    await ask.admit()
    return of_seat(await _ask(ask, lambda roster: roster.join(_role(ask), worktree=body.working_dir)))


async def leave(ask: Ask) -> dict[str, Any]:
    """Take a role out of its team."""
    await ask.admit()

    def work(roster: Roster) -> dict[str, Any]:
        return {"left": roster.leave(_role(ask)), "automations": list(roster.freed)}

    return await _ask(ask, work)


async def act_as(ask: Ask) -> dict[str, Any]:
    """Let the calling session hold a role."""
    await ask.admit()
    return of_seat(await _ask(ask, lambda roster: roster.act_as(_role(ask))))


async def drop(ask: Ask) -> dict[str, Any]:
    """Let go of a role."""
    await ask.admit()

    def work(roster: Roster) -> dict[str, Any]:
        return {"released": roster.drop(_role(ask)) or None, "automations": list(roster.freed)}

    return await _ask(ask, work)


async def post(ask: Ask) -> dict[str, Any]:
    """Post to a role, or to all roles of a team."""
    body: PostBody = await ask.body()
    await ask.admit(claimed=body.parent_session_id)

    def work(roster: Roster) -> list[dict[str, Any]]:
        copies = roster.post(_role(ask), body.draft(), allow_warnings=body.allow_warnings)
        return [of_copy(copy) for copy in copies]

    return {"copies": await _ask(ask, work)}


async def read(ask: Ask) -> dict[str, Any]:
    """Tell the pending mail of a role; marks nothing."""
    after = number_in(ask.query, "after", least=0) or 0
    limit = number_in(ask.query, "limit", least=1)
    await ask.admit()

    def work(roster: Roster) -> dict[str, Any]:
        return of_role_reading(roster.read(_role(ask), after=after, limit=limit), roster.name_of)

    return await _ask(ask, work)


async def seen(ask: Ask) -> dict[str, Any]:
    """Take the holder's word that it was given messages whole."""
    body: SeenBody = await ask.body()
    await ask.admit()

    def work(roster: Roster) -> dict[str, Any]:
        roster.confirm(_role(ask), body.ids, only_noticed=body.noticed)
        return of_counts(roster.read(_role(ask), limit=1).counts)

    return await _ask(ask, work)


async def acknowledge(ask: Ask) -> dict[str, Any]:
    """Acknowledge messages of a role."""
    from restante.domain.errors import UsageError

    body: AckBody = await ask.body()
    await ask.admit()
    if (body.ids is None) == (body.through is None):
        raise UsageError("say which messages: either ids or through", remedy='send {"ids": ["..."]}')

    def work(roster: Roster) -> dict[str, Any]:
        return of_cleared(
            roster.acknowledge(
                _role(ask),
                body.ids or [body.through or ""],
                through=body.ids is None,
                decision=body.decision,
                action=body.action,
                summary=body.summary,
                late=body.late(),
            )
        )

    return await _ask(ask, work)


async def tally(ask: Ask) -> dict[str, Any]:
    """Tell how far the mail of a role got."""
    await ask.admit()
    return (await _ask(ask, lambda roster: roster.tally(_role(ask))))._asdict()


async def history(ask: Ask) -> dict[str, Any]:
    """Tell what was posted to a role, or with ``*`` to the whole team, and what became of it."""
    limit = number_in(ask.query, "limit", least=1, most=_MOST_HISTORY) or 20
    await ask.admit()
    what = ask.params["team"] if ask.params["role"] == EVERYBODY else _role(ask)

    def work(roster: Roster) -> dict[str, Any]:
        entries, older = roster.history(what, limit=limit)
        return {"messages": [of_entry(entry, roster.name_of) for entry in entries], "older": older}

    return await _ask(ask, work)
