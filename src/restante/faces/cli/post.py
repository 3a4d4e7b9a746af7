"""``restante post`` and ``restante receipts``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain import wire
from restante.domain.ids import is_well_formed, resolve
from restante.domain.listing import kept_note, sent_lines, trace_lines
from restante.domain.message import Draft, Priority, choose
from restante.domain.telling import is_of_role
from restante.faces.cli.inputs import office_of, text_from, when_from
from restante.faces.cli.output import say, tell
from restante.faces.cli.windows import checked, number_from, warn_of, window_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.domain.overview import Handed, Trace
    from restante.domain.registry import Identity
    from restante.ports.sessions import Window

_MOST_TRACES = 1000


def post(
    to: str,
    words: tuple[str, ...],
    file: str | None,
    subject: str,
    priority: str,
    expires: str | None,
    client_id: str,
    allow_warnings: bool,
    action: str | None,
    correlation: str | None,
    state: str | None,
    directory: str,
    as_json: bool,
) -> int:
    """Write to another session, or to a role; its agent reads it at a checkpoint."""
    office = office_of(directory, anywhere=True)
    draft = Draft(
        body=text_from(words, file, limit=office.settings.message_bytes * 4),
        priority=choose(Priority, priority, what="priority"),
        subject=subject,
        expires=when_from(expires, office.clock.now()) if expires else None,
        client_id=client_id,
    )
    if action is not None or correlation is not None or state is not None:
        from restante.faces.cli.subscriptions import post_signal

        words_of = (action or "", correlation or "", state or "")
        return post_signal(to, draft, *words_of, directory, allow_warnings=allow_warnings, as_json=as_json)
    if is_of_role(to):
        from restante.faces.cli.teams import post_to_role, session_is_called

        if not session_is_called(to, directory):
            return post_to_role(to, draft, directory, allow_warnings=allow_warnings, as_json=as_json)
    window = window_of(directory)
    handed = window.post(checked(window, to), draft, allow_warnings=allow_warnings)
    answer_post(handed, window.identity, as_json)
    return 0


def answer_post(handed: Handed, identity: Identity, as_json: bool) -> None:
    """Say where a message went, and as whom; a claim that named nobody is warned about."""
    message = handed.posted.message
    sender = message.sender
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({**wire.of_handed(handed), "left": handed.is_left})
    else:
        say("\n".join(sent_lines(handed)))
    warn_of(sender, identity)
    if note := kept_note(handed):
        tell(note)
    if not as_json and not handed.is_left:
        # Only a session has a mailbox that an answer could come to.
        answer = "; restante inbox --wait" if sender.name.startswith("session:") else ""
        tell(
            f"{handed.counts.pending} pending there, {handed.counts.unseen} unseen; "
            f"next: restante receipts {message.id[-8:]}{answer}"
        )


def receipts(messages: tuple[str, ...], limit: str, directory: str, as_json: bool) -> None:
    """Show what became of what you posted: states and times, no text."""
    most = number_from(limit, what="--limit", least=1)
    window = window_of(directory)
    if messages:
        traces = traces_of(window, messages)
        left_out = 0
    else:
        # One more than is shown tells whether there are more; only then all are counted.
        found = window.receipts(limit=min(most, _MOST_TRACES - 1) + 1)
        traces = found[:most]
        left_out = len(window.receipts(limit=_MOST_TRACES)) - most if len(found) > most else 0
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"receipts": [wire.of_trace(trace) for trace in traces], "left_out": left_out, "more": left_out > 0})
        return
    say_traces(window, traces, directory)
    if not traces:
        say("nothing was posted")
    if left_out:
        and_more = "at least " if most + left_out >= _MOST_TRACES else ""
        say(f"{and_more}{left_out} older ones: restante receipts --limit {most + left_out}")


def say_traces(window: Window, traces: Sequence[Trace], directory: str) -> None:
    """Print a line for each message that was posted."""
    now = office_of(directory, anywhere=True).clock.now()
    names = {row.session.id: row.session for row in window.sessions()} if traces else {}
    say(trace_lines(traces, names, now), end="")


def traces_of(window: Window, messages: Sequence[str]) -> list[Trace]:
    """Return what became of messages that the caller posted, each by a whole id or a part that only it has.

    Raises:
        NoSuchMessage: The caller posted none with such an id, as far as is known.
    """
    whole = [one for one in messages if is_well_formed(one, "msg")]
    parts = [one for one in messages if not is_well_formed(one, "msg")]
    found = {trace.message_id: trace for trace in window.receipts(whole)} if whole else {}
    if parts:
        found.update((trace.message_id, trace) for trace in window.receipts(limit=_MOST_TRACES))
    ids = [resolve(one, found, remedy="restante receipts") for one in messages]
    return [found[one] for one in dict.fromkeys(ids)]
