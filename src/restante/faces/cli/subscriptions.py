"""``restante subscribe``, ``subscriptions``, ``unsubscribe``; and a post that says what became of an action."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from restante.domain.errors import UsageError
from restante.domain.text import iso, visible
from restante.faces.cli.inputs import when_from
from restante.faces.cli.output import say, tell

if TYPE_CHECKING:
    from restante.domain.message import Draft
    from restante.domain.monitor import Subscription
    from restante.roster import Roster


def _opened(directory: str) -> Roster:
    from restante.wiring.subscribing import open_subscriptions

    return open_subscriptions(os.environ, directory)


def subscribe(
    to: str | None,
    action: str | None,
    correlation: str | None,
    until: str | None,
    expires: str | None,
    report_only: bool,
    report_expiry: bool,
    directory: str,
    as_json: bool,
) -> None:
    """Have a role's holder woken once, by the first message that says what became of an action."""
    given = {"--to": to, "--action": action, "--correlation": correlation, "--until": until, "--expires": expires}
    if missing := [name for name, value in given.items() if not value]:
        raise UsageError(f"not given: {', '.join(missing)}", remedy="restante subscribe --help")
    roster = _opened(directory)
    made = roster.subscribe(
        to or "",
        action or "",
        correlation or "",
        [word.strip() for word in (until or "").split(",") if word.strip()],
        expires=when_from(expires or "", roster.clock.now()),
        report_only=report_only,
        reports_expiry=report_expiry,
    )
    if as_json:
        _print({"subscription": of_subscription(made)})
        return
    say(f"{made.id} waits until {', '.join(made.states)} is said of {made.action} ({made.correlation})")
    tell(f"it is over {iso(made.expires)}; to end it before: restante unsubscribe {made.id[-8:]}")


def list_subscriptions(directory: str, as_json: bool) -> None:
    """List the subscriptions that nothing ended yet."""
    found = _opened(directory).subscriptions()
    if as_json:
        _print({"subscriptions": [of_subscription(one) for one in found]})
        return
    for one in found:
        who = f"session {visible(one.session)}" if one.session else "its holder"
        marks = ", only reports" if one.report_only else ""
        say(f"{one.id}  {one.mailbox}: {one.action} ({one.correlation}) until {', '.join(one.states)}")
        say(f"    wakes {who}{marks}; over {iso(one.expires)}" + (", then told" if one.reports_expiry else ""))
    if not found:
        say("no subscriptions")


def unsubscribe(subscription: str, directory: str, as_json: bool) -> None:
    """Wait for it no longer."""
    gone = _opened(directory).unsubscribe(subscription)
    if as_json:
        _print({"removed": gone.id if gone else None})
    else:
        say(f"removed {gone.id}" if gone else f"{visible(subscription)} is gone already: it was woken for, or is over")


def post_signal(
    to: str,
    draft: Draft,
    action: str,
    correlation: str,
    state: str,
    directory: str,
    *,
    allow_warnings: bool,
    as_json: bool,
) -> int:
    """Post to a role, with what the message says of an action; return the exit code."""
    from restante.domain.awaiting import check_signal
    from restante.faces.cli.teams import tell_copies

    given = {"--action": action, "--correlation": correlation, "--state": state}
    if missing := [name for name, value in given.items() if not value]:
        raise UsageError(f"not given: {', '.join(missing)}", remedy=f"these go together: {', '.join(given)}")
    signal = check_signal(action, correlation, state)
    roster = _opened(directory)
    copies = roster.post(to, draft, allow_warnings=allow_warnings, signal=signal)
    return tell_copies(copies, roster.identity, as_json=as_json)


def of_subscription(one: Subscription) -> dict[str, Any]:
    """Return a subscription as JSON."""
    return {
        "id": one.id,
        "to": one.mailbox,
        "action": one.action,
        "correlation": one.correlation,
        "until": list(one.states),
        "session": one.session or None,
        "report_only": one.report_only,
        "report_expiry": one.reports_expiry,
        "created_at": iso(one.created),
        "expires_at": iso(one.expires),
    }


def _print(value: dict[str, Any]) -> None:
    from restante.faces.cli.jsonable import print_json

    print_json(value)
