"""``restante repeats``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.text import age, one_line, visible
from restante.faces.cli.inputs import office_of
from restante.faces.cli.output import say, tell

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.repeat import Repeat
    from restante.office import Office


def list_repeats(directory: str, as_json: bool) -> None:
    """List the repeats."""
    office = office_of(directory)
    found = office.repeats()
    if as_json:
        from restante.faces.cli.jsonable import of_repeat, print_json

        print_json({"repeats": [of_repeat(repeat) for repeat in found]})
        return
    for repeat in found:
        say(_line(repeat, office.clock.now()))
    if not found:
        say("no repeats")


def show(repeat: str, directory: str, as_json: bool) -> None:
    """Show one repeat whole."""
    office = office_of(directory)
    _print(office.repeat(repeat), office, as_json)


def pause(repeat: str, directory: str, as_json: bool) -> None:
    """Stop posting it until it is resumed."""
    office = office_of(directory)
    _print(office.set_repeat_active(repeat, active=False), office, as_json)


def resume(repeat: str, directory: str, as_json: bool) -> None:
    """Go on posting it, next one interval from now."""
    office = office_of(directory)
    _print(office.set_repeat_active(repeat, active=True), office, as_json)


def remove(repeat: str, directory: str, as_json: bool) -> None:
    """Forget a repeat; what it posted stays."""
    removed = office_of(directory).remove_repeat(repeat)
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"removed": removed})
    else:
        say(f"removed {removed}")


def run(forever: bool, directory: str, as_json: bool) -> int:
    """Post what is due. Any number of runners may run at once: each message is posted once."""
    office = office_of(directory)
    failed = _run_once(office, as_json=as_json, quiet=forever)
    while forever:
        due = [one.next_run for one in office.repeats() if one.active]
        seconds = min((time - office.clock.now()).total_seconds() for time in due) if due else 5.0
        office.clock.sleep(min(5.0, max(0.2, seconds)))
        failed = _run_once(office, as_json=as_json, quiet=True)
    return 1 if failed else 0


def _run_once(office: Office, *, as_json: bool, quiet: bool) -> bool:
    """Post what is due and say so; return whether any repeat failed."""
    result = office.run_repeats()
    if as_json and (result.sent or result.failed or not quiet):
        from restante.faces.cli.jsonable import of_message, print_json

        print_json(
            {
                "sent": [{"repeat": one.repeat.id, "message": of_message(one.posted.message)} for one in result.sent],
                "failed": [{"repeat": one.repeat.id, "reason": one.error.message} for one in result.failed],
            }
        )
    elif not as_json:
        for sent in result.sent:
            say(f"sent {sent.posted.message.id} from {sent.repeat.id}")
        for failure in result.failed:
            tell(f"{failure.repeat.id} was not sent: {visible(failure.error.message)}")
        if not (result.sent or result.failed or quiet):
            say("nothing is due")
    return bool(result.failed)


def _print(repeat: Repeat, office: Office, as_json: bool) -> None:
    if as_json:
        from restante.faces.cli.jsonable import of_repeat, print_json

        print_json({"repeat": of_repeat(repeat)})
        return
    from restante.domain.text import fenced

    say(_line(repeat, office.clock.now()))
    say(fenced(visible(repeat.body)))


def _line(repeat: Repeat, now: datetime) -> str:
    from datetime import timedelta

    from restante.domain.duration import format_duration

    state = "active" if repeat.active else "paused"
    every = format_duration(timedelta(milliseconds=repeat.interval_ms))
    wait = (repeat.next_run - now).total_seconds()
    following = (
        ("next now" if wait <= 0 else f"next in {format_duration(timedelta(seconds=round(wait)))}")
        if repeat.active
        else "stopped"
    )
    last = f"last {age(repeat.last_sent, now)}" if repeat.last_sent else "never sent"
    facts = f"{state}, every {every}, {following}, {last}, sent {repeat.sent_count}"
    return f"{repeat.id} {facts}: {one_line(repeat.body, 50)}"
