"""``restante monitor``: arming, checking and stopping, and how monitors stand."""

from __future__ import annotations

import functools
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, ParamSpec

from restante.domain.errors import Busy, Damaged, Forbidden, NothingThere, RoleHeld, UsageError
from restante.domain.monitor import MonitorState, Plan
from restante.domain.monitoring import Word
from restante.faces.cli import monitor_render as render
from restante.faces.cli.command import MODES
from restante.faces.cli.inputs import office_of, seconds_from
from restante.faces.cli.output import json_line, say, tell
from restante.faces.cli.windows import number_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.domain.monitor import Monitor
    from restante.domain.monitoring import Answer
    from restante.domain.outlook import Outlook
    from restante.vigil import Vigil

NOTHING_NOW = 2
NOT_ARMED = 3
USAGE = 64
DAMAGED = 70
BUSY = 75
_PROMPT = "--- scheduled-task-prompt ---"

_Arguments = ParamSpec("_Arguments")


def _answering(command: Callable[_Arguments, int]) -> Callable[_Arguments, int]:
    """Give a command the exit codes that scheduled tasks and watchdogs know."""

    @functools.wraps(command)
    def answered(*arguments: _Arguments.args, **values: _Arguments.kwargs) -> int:
        as_json = bool(values.get("as_json"))
        try:
            return command(*arguments, **values)
        except Busy as error:
            say(json_line({"status": "busy"}) if as_json else render.line(status="busy"))
            tell(f"busy: {error.message}")
            return BUSY
        except RoleHeld as error:
            if not as_json:
                holder = next((one["session"] for one in error.details if "session" in one), None)
                say(render.line(status="held", owner=holder))
            raise
        except UsageError as error:
            error.exit_code = USAGE
            raise
        except Damaged as error:
            error.exit_code = DAMAGED
            raise

    return answered


@_answering
def arm(
    mailbox: str,
    session: str | None,
    adapter: str | None,
    scheduled: bool,
    token: str | None,
    lasts: str | None,
    now: str | None,
    directory: str,
    as_json: bool,
) -> int:
    """Have a session woken when mail comes to a mailbox."""
    mailbox = _whole(mailbox)
    vigil, at = _open(directory, now, arms=True)
    answer = vigil.arm(
        mailbox,
        session=session or "",
        plan=Plan.SCHEDULED if scheduled else Plan.EVENT,
        adapter=adapter or "",
        token=token or "",
        time_to_live=_length(lasts),
        now=at,
    )
    return _armed(answer, mailbox, at, vigil, as_json=as_json)


@_answering
def prepare(mailbox: str, session: str | None, now: str | None, directory: str, as_json: bool) -> int:
    """Arm a mailbox for a scheduled task, unless it is, and print what the task has to do."""
    mailbox = _whole(mailbox)
    vigil, at = _open(directory, now, arms=True)
    answer = vigil.arm(mailbox, session=session or "", plan=Plan.SCHEDULED, only_prepares=True, now=at)
    assert answer.monitor
    text = _prompt_for(mailbox, answer.monitor.token, vigil)
    if as_json:
        say(json_line({**render.json_of(answer, mailbox, at), "prompt": text}))
        return 0
    say(render.of_arming(answer, at))
    say(_PROMPT)
    say(text, end="")
    return 0


@_answering
def check(mailbox: str, token: str | None, force: bool, now: str | None, directory: str, as_json: bool) -> int:
    """Tell whether the session has to be woken now."""
    mailbox = _whole(mailbox)
    vigil, at = _open(directory, now)
    answer = vigil.check(mailbox, token=token or "", is_forced=force, now=at)
    return _checked(answer, mailbox, at, as_json=as_json)


@_answering
def claim(
    mailbox: str,
    token: str | None,
    fallback_after: str | None,
    retry_after: str | None,
    now: str | None,
    directory: str,
    as_json: bool,
) -> int:
    """Tell the same to a watchdog."""
    mailbox = _whole(mailbox)
    vigil, at = _open(directory, now)
    answer = vigil.check(
        mailbox,
        token=token or "",
        healthy_within=_length(fallback_after),
        retry=_length(retry_after),
        now=at,
    )
    return _checked(answer, mailbox, at, as_json=as_json)


@_answering
def heartbeat(mailbox: str, token: str | None, now: str | None, directory: str, as_json: bool) -> int:
    """Say that the session of a mailbox lives."""
    mailbox = _whole(mailbox)
    vigil, at = _open(directory, now)
    answer = vigil.heartbeat(mailbox, token=token or "", now=at)
    return _checked(answer, mailbox, at, as_json=as_json)


@_answering
def delivered(mailbox: str, mark: str, token: str | None, now: str | None, directory: str, as_json: bool) -> int:
    """Say that the mail of a wake was collected."""
    mailbox = _whole(mailbox)
    vigil, at = _open(directory, now)
    number = number_from(mark, what="MAX_ID")
    answer = vigil.delivered(mailbox, number, token=token or "", now=at)
    return _told(answer, mailbox, at, as_json=as_json, max_id=answer.mark)


@_answering
def failed(
    mailbox: str, mark: str, reason: str, token: str | None, now: str | None, directory: str, as_json: bool
) -> int:
    """Say that a wake failed."""
    mailbox = _whole(mailbox)
    vigil, at = _open(directory, now)
    number = number_from(mark, what="MAX_ID")
    answer = vigil.failed(mailbox, number, reason, token=token or "", now=at)
    failures = answer.monitor.failures if answer.monitor else 0
    return _told(answer, mailbox, at, as_json=as_json, failures=failures, max_id=answer.mark)


@_answering
def scheduled(mailbox: str, interval: str, token: str | None, now: str | None, directory: str, as_json: bool) -> int:
    """Say at which interval the scheduled task runs from now on."""
    from restante.domain.backoff import rule_of

    mailbox = _whole(mailbox)
    vigil, at = _open(directory, now)
    seconds = number_from(interval, what="SECONDS")
    answer = vigil.scheduled(mailbox, seconds, token=token or "", now=at)
    return _told(answer, mailbox, at, as_json=as_json, interval=seconds, rrule=rule_of(seconds))


@_answering
def automation(
    mailbox: str, automations: tuple[str, ...], token: str | None, now: str | None, directory: str, as_json: bool
) -> int:
    """Note ids of the agent program's own tasks."""
    mailbox = _whole(mailbox)
    vigil, at = _open(directory, now)
    answer = vigil.automated(mailbox, automations, token=token or "", now=at)
    known = ",".join(answer.monitor.automations) if answer.monitor else ""
    return _told(answer, mailbox, at, as_json=as_json, automation_ids=known)


@_answering
def status(mailbox: str | None, now: str | None, directory: str, as_json: bool) -> int:
    """Show how monitors stand."""
    vigil, at = _open(directory, now)
    found = [vigil.outlook(_whole(mailbox), now=at)] if mailbox is not None else vigil.outlooks(now=at)
    armed = [one for one in found if one.monitor]
    active = sum(one.monitor is not None and one.monitor.state is MonitorState.ACTIVE for one in armed)
    if as_json:
        told = [render.json_of_outlook(_without_token(one, vigil), at) for one in found]
        say(json_line({"monitors": told, "active": active}))
        return 0 if armed else NOT_ARMED
    for one in found:
        say(render.of_outlook(one, at, is_one_of_many=mailbox is None))
    if mailbox is None:
        say(render.line(status=MonitorState.ACTIVE if active else MonitorState.INACTIVE, count=active))
    return 0 if armed else NOT_ARMED


@_answering
def stop(mailbox: str | None, worktree: bool, token: str | None, directory: str, as_json: bool) -> int:
    """Have nobody woken any more for a mailbox."""
    if (mailbox is None) is not worktree:
        raise UsageError("which mailbox, or --worktree for all of this one?", remedy="restante monitor status")
    vigil, _ = _open(directory)
    if mailbox is None:
        from restante.domain.address import parse_address

        answers = vigil.reset(parse_address(office_of(directory).address).name)
    else:
        answers = [vigil.stop(_whole(mailbox), token=token or "")]
    return _ended(answers, as_json=as_json)


@_answering
def prompt(mailbox: str, directory: str, as_json: bool) -> int:
    """Print what the scheduled task of an armed mailbox has to do."""
    mailbox = _whole(mailbox)
    vigil, _ = _open(directory)
    monitor = vigil.outlook(mailbox).monitor
    if monitor is None:
        raise NothingThere(f"{mailbox} is not armed", remedy=f"restante monitor prepare {mailbox}")
    if not _may_act(monitor, vigil):
        raise Forbidden(f"{mailbox} is watched for another session", remedy="let that session or a person ask")
    text = _prompt_for(mailbox, monitor.token, vigil)
    say(json_line({"prompt": text}) if as_json else text, end="\n" if as_json else "")
    return 0


@_answering
def mode(mode: str, mailbox: str, session: str | None, now: str | None, directory: str, as_json: bool) -> int:
    """Wake a session for a mailbox, or no longer."""
    if mode not in MODES:
        raise UsageError(f"there is no mode {mode!r}", remedy=f"one of: {', '.join(MODES)}")
    mailbox = _whole(mailbox)
    vigil, at = _open(directory, now, arms=mode == "monitor")
    if mode == "monitor":
        answer = vigil.arm(mailbox, session=session or "", now=at)
        return _armed(answer, mailbox, at, vigil, as_json=as_json)
    return _ended([vigil.stop(mailbox)], as_json=as_json, mode=mode)


def _open(directory: str, now: str | None = None, *, arms: bool = False) -> tuple[Vigil, datetime]:
    """Return the vigil of whoever calls, and the time to go by."""
    from restante.wiring.monitors import open_vigil

    vigil = open_vigil(os.environ, directory, arms=arms)
    return vigil, vigil.clock.now() if now is None else _time(now)


def _whole(mailbox: str) -> str:
    """Return an address with the whole path of its worktree."""
    scheme, colon, path = mailbox.partition(":")
    if scheme == "worktree" and colon and not os.path.isabs(path):
        return office_of(path or ".").address
    return mailbox


def _time(text: str) -> datetime:
    """Return the time that ``--now`` names.

    Raises:
        UsageError: It names none.
    """
    try:
        if text.replace(".", "", 1).isdigit() and text.isascii():
            return datetime.fromtimestamp(float(text), UTC)
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise UsageError(f"--now {text!r} is no time", remedy="seconds since 1970, or for example 2026-05-20T15:30:00Z")


def _length(text: str | None) -> timedelta | None:
    return None if text is None else timedelta(seconds=seconds_from(text))


def _prompt_for(mailbox: str, token: str, vigil: Vigil) -> str:
    from restante.faces.cli.monitor_prompt import prompt_for

    return prompt_for(mailbox, token, vigil.command)


def _may_act(monitor: Monitor, vigil: Vigil) -> bool:
    """Tell whether who asks may be told what proves an arming: the session that is woken, or a person, proven."""
    identity = vigil.identity
    return identity.verified and identity.session in ("", monitor.session)


def _without_token(outlook: Outlook, vigil: Vigil) -> Outlook:
    monitor = outlook.monitor
    if monitor is None or _may_act(monitor, vigil):
        return outlook
    return outlook._replace(monitor=monitor._replace(token=""))


def _armed(answer: Answer, mailbox: str, at: datetime, vigil: Vigil, *, as_json: bool) -> int:
    assert answer.monitor
    effect, reason = vigil.effect(answer.monitor, now=at)
    if as_json:
        say(json_line({**render.json_of(answer, mailbox, at), "mode": effect, "reason": reason}))
    else:
        # Whoever armed would wait for a wake that cannot come.
        told = {"mode": effect, "reason": reason} if reason else {}
        say(f"{render.of_arming(answer, at)} {render.line(**told)}".rstrip())
    return 0


def _checked(answer: Answer, mailbox: str, at: datetime, *, as_json: bool) -> int:
    say(json_line(render.json_of(answer, mailbox, at)) if as_json else render.of_check(answer, at))
    return _code(answer)


def _told(answer: Answer, mailbox: str, at: datetime, *, as_json: bool, **told: object) -> int:
    is_done = answer.word not in (Word.INACTIVE, Word.EXPIRED)
    if as_json:
        say(json_line(render.json_of(answer, mailbox, at)))
    elif is_done:
        say(render.of_told(answer, at, told))
    else:
        say(render.of_check(answer, at))
    return 0 if is_done else NOT_ARMED


def _ended(answers: list[Answer], *, as_json: bool, mode: str = "") -> int:
    if as_json:
        ended = [one.monitor.mailbox for one in answers if one.monitor]
        automations = [automation for one in answers for automation in one.automations]
        say(json_line({"status": Word.INACTIVE, "stopped": ended, "automations": automations}))
        return 0
    for one in answers:
        say(render.of_end(one, mode))
    if not answers:
        say(render.line(status=Word.INACTIVE, stopped=0, schedule_action="pause"))
    return 0


def _code(answer: Answer) -> int:
    if answer.word in (Word.INACTIVE, Word.EXPIRED):
        return NOT_ARMED
    if answer.word is Word.ERROR:
        is_over = answer.monitor is not None and answer.monitor.state is MonitorState.ERROR
        return NOT_ARMED if is_over else 1
    return 0 if answer.word in (Word.WAKE, Word.ACTIVE) else NOTHING_NOW
