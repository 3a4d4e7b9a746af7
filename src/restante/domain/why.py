"""THE table of causes: why a message was not answered (yet), in one sentence, and the one command that helps next.

The first rule that holds is the answer. The rules go the way of a message: is there one, did it end, was it answered,
was it read, may its addressee have it, is there somebody to read it, would a hook show it, what is that session doing,
would anything wake it. The last ones leave nothing open: a cause is found for whatever facts can come together.

docs/howto/why.md is made of this table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.domain.address import Home
from restante.domain.conditions import (
    hearing_is,
    hold_is,
    hooks_are,
    is_busy,
    is_held,
    is_noticed,
    is_over,
    is_to_be_done,
    is_waiting,
    looked,
    monitor_is,
    monitor_that,
    presence_is,
    status_is,
    was_passed_by,
)
from restante.domain.evidence import Words, evidence
from restante.domain.facts import Facts, Held, HookState, Lookup
from restante.domain.lifecycle import Status
from restante.domain.monitor import MonitorState, Plan
from restante.domain.outlook import NO_WAY, Hearing
from restante.domain.registry import Presence
from restante.domain.team import Standing as Hold

if TYPE_CHECKING:
    from collections.abc import Callable


class Explanation(NamedTuple):
    """Why, at one moment.

    Attributes:
        message_id: Which message.
        cause: The word for it; one of the table's.
        sentence: The answer, in one sentence.
        evidence: What it was concluded from, a line for each fact; no word of the message.
        command: The one command that helps next; empty where there is nothing to do.
        mailbox: The address of the message's mailbox; empty where none was found.
    """

    message_id: str
    cause: str
    sentence: str
    evidence: tuple[str, ...]
    command: str
    mailbox: str


class Rule(NamedTuple):
    """One cause.

    Attributes:
        cause: The word for it.
        means: What it means, for the documents.
        holds: Whether it is the cause, where no rule before it was.
        sentence: The answer, with places for ``evidence.Words``.
        command: What helps next, likewise; empty for nothing.
    """

    cause: str
    means: str
    holds: Callable[[Facts], bool]
    sentence: str
    command: str = ""


def explain(facts: Facts) -> Explanation:
    """Return why a message was not answered.

    Args:
        facts: What is known.
    """
    rule = next(rule for rule in RULES if rule.holds(facts))
    words = Words(facts)
    sentence, command = rule.sentence.format_map(words), rule.command.format_map(words)
    return Explanation(facts.message, rule.cause, sentence, evidence(facts), command, facts.address)


RULES: tuple[Rule, ...] = (
    Rule(
        "not-kept",
        "The mail of sessions is kept nowhere, so that what was posted to one is gone.",
        looked(Lookup.NOT_KEPT),
        "no message has this id here, and the mail of sessions is neither kept on disk nor held by a server: one "
        "that was posted to a session is gone",
        "restante persist on",
    ),
    Rule(
        "no-such-message",
        "Nothing has this id where you may look. A post that was refused stored nothing, and left no id.",
        looked(Lookup.NOWHERE),
        "{trouble}",
        "restante status",
    ),
    Rule(
        "mailbox-deleted",
        "It was posted, and its mailbox was deleted since.",
        looked(Lookup.DELETED),
        "{trouble}",
        "restante doctor",
    ),
    Rule(
        "damaged",
        "What is stored under this id is not all there.",
        looked(Lookup.DAMAGED),
        "{trouble}",
        "restante doctor",
    ),
    Rule(
        "withdrawn",
        "Its sender took it back.",
        status_is(Status.WITHDRAWN),
        "it was withdrawn {withdrawn}, so that nobody is asked for an answer any more",
    ),
    Rule(
        "expired",
        "Its time ran out before anybody answered.",
        status_is(Status.EXPIRED),
        "it expired {expired}, before anybody answered it",
    ),
    Rule(
        "work-pending",
        "It is acknowledged, and the work is still to be done.",
        is_to_be_done,
        "its addressee said {acknowledged} that the work is still to be done{words}",
        "{details}",
    ),
    Rule(
        "answered",
        "It is acknowledged: there is nothing to wait for.",
        status_is(Status.ACCEPTED, Status.APPLIED, Status.NOT_APPLICABLE),
        "it was answered {acknowledged}: {status}{words}",
        "{details}",
    ),
    Rule(
        "refused",
        "Its addressee decided against it.",
        status_is(Status.REJECTED),
        "its addressee refused it {acknowledged}{words}",
        "{details}",
    ),
    Rule(
        "deferred",
        "Its addressee put it off.",
        status_is(Status.DEFERRED),
        "its addressee put it off {acknowledged}{words}",
        "{details}",
    ),
    Rule(
        "needs-confirmation",
        "Its addressee wants to be told to go on.",
        status_is(Status.NEEDS_CONFIRMATION),
        "its addressee asked {acknowledged} to be told to go on{words}",
        "{details}",
    ),
    Rule(
        "work-blocked",
        "It is acknowledged, and something blocks the work.",
        status_is(Status.BLOCKED),
        "its addressee said {acknowledged} that something blocks the work{words}",
        "{details}",
    ),
    Rule(
        "seen",
        "Its addressee read it, and said nothing of it yet.",
        status_is(Status.SEEN),
        "it was read {seen} by {by}, and not acknowledged",
        "{details}",
    ),
    Rule(
        "quarantined",
        "Its receiver's intake rejected it, and kept it as evidence.",
        is_held(Held.QUARANTINED),
        "the intake of {mailbox} rejected it: {reasons}",
        "restante oacp doctor --project {project}",
    ),
    Rule(
        "unproven",
        "Its receiver takes only mail whose sender is proven, and this one's is not.",
        is_held(Held.UNPROVEN),
        "the policy of {mailbox} holds it, because nothing proves who sent it: {reasons}",
        "restante read {id} --project {project} --agent {agent}",
    ),
    Rule(
        "held-for-a-person",
        "The receiver's policy holds it until a person decides.",
        is_held(Held.FOR_A_PERSON),
        "the policy of {mailbox} holds it until a person decides: {reasons}",
        "restante approve {id} --project {project} --agent {agent}",
    ),
    Rule(
        "decided",
        "A person decided; the agent's next round goes on from there.",
        is_held(Held.DECIDED),
        "a person decided on it ({reasons}), and {mailbox} has made no round since",
        "restante check-inbox --project {project} --agent {agent}",
    ),
    Rule(
        "started",
        "The agent's intake let it in, and the work on it has not ended.",
        is_held(Held.STARTED),
        "{mailbox} let it in {held}, and has not ended the work on it",
        "restante check-inbox --project {project} --agent {agent}",
    ),
    Rule(
        "not-collected",
        "Nobody worked the OACP inbox off since it came.",
        lambda facts: facts.home is Home.OACP,
        "{mailbox} has not worked off its inbox since it came",
        "restante check-inbox --project {project} --agent {agent}",
    ),
    Rule(
        "role-left",
        "The role is in no team any more.",
        lambda facts: facts.tenure is not None and facts.tenure.member is None,
        "{mailbox} left its team, so that nobody reads its mail",
        "restante join {address}",
    ),
    Rule(
        "role-free",
        "No session holds the role.",
        lambda facts: facts.tenure is not None and facts.tenure.hold is None,
        "no session holds the role {mailbox}",
        "restante act-as {address}",
    ),
    Rule(
        "role-holder-dead",
        "The session that holds the role ended.",
        hold_is(Hold.DEAD),
        "the role {mailbox} is held by {holder}, which has ended",
        "restante act-as {address}",
    ),
    Rule(
        "role-lease-over",
        "The session that holds the role was not heard of for as long as its lease lasts.",
        hold_is(Hold.EXPIRED),
        "the role {mailbox} is held by {holder}, whose lease ran out",
        "restante act-as {address}",
    ),
    Rule(
        "session-gone",
        "The process of the session that it is for ended.",
        presence_is(Presence.GONE),
        "the process of {reader} ended; the message is kept for when it comes back",
        "restante ls",
    ),
    Rule(
        "session-detached",
        "The session that it is for ended, or was not heard of for long.",
        presence_is(Presence.DETACHED),
        "{reader} is detached, and was last heard of {heard}; the message is kept for when it comes back",
        "restante ls",
    ),
    Rule(
        "session-elsewhere",
        "The session runs on another machine, of which nothing is known here.",
        lambda facts: facts.reader is not None and facts.reader.is_elsewhere,
        "{reader} runs on another machine, was last heard of {heard}, and cannot be looked at from here",
        "restante watch {session}",
    ),
    Rule(
        "dialog",
        "A dialog of the session waits for a person, and nothing goes on before.",
        lambda facts: facts.reader is not None and facts.reader.session.blocked != "",
        "{reader} waits for a person to answer a dialog ({dialog})",
        "restante watch {session}",
    ),
    Rule(
        "collecting",
        "The session waits for mail at this moment, and is being given it.",
        is_waiting,
        "{reader} is waiting for mail, and is being given it now",
        "restante watch {session}",
    ),
    Rule(
        "noticed",
        "A checkpoint showed it, and it was neither read in the inbox nor answered.",
        is_noticed,
        "a checkpoint showed it to {by} {noticed}, which has neither read it in its inbox nor answered it",
        "{details}",
    ),
    Rule(
        "bell-silent",
        "The worktree's bell does not ring, so that no checkpoint looks.",
        lambda facts: facts.is_silent,
        "the bell of {mailbox} does not ring, so that no checkpoint looks for it",
        "restante doctor",
    ),
    Rule(
        "hooks-missing",
        "No hooks of ours are installed there, or they are out of date.",
        hooks_are(HookState.MISSING, HookState.OUTDATED, HookState.UNREADABLE),
        "no current hooks of {program} are there to show it: {detail}",
        "restante install --agent {program}{there}",
    ),
    Rule(
        "hooks-off",
        "Something keeps the agent program from running hooks.",
        hooks_are(HookState.SWITCHED_OFF),
        "hooks are switched off, so that {program} shows nothing: {detail}",
        "restante doctor{there}",
    ),
    Rule(
        "hooks-untrusted",
        "The hooks are installed, and the agent program does not trust them.",
        hooks_are(HookState.UNTRUSTED),
        "the hooks are installed and {program} does not trust them, so that it skips them in silence: {detail}",
        "restante install --trust{there}",
    ),
    Rule(
        "no-register",
        "Sessions are not registered here, so that nothing is known of what they do; none reached a checkpoint.",
        lambda facts: facts.reader is None and not facts.has_register,
        "no session reached a checkpoint since it was posted, and what sessions do is not known: they are not "
        "registered here",
        "restante install --sessions on",
    ),
    Rule(
        "no-live-session",
        "Every session that could have read it ended; the next one is shown it as it starts.",
        lambda facts: facts.reader is None and facts.ended > 0,
        "no session is alive in {mailbox} ({ended} ended); the next one is shown it",
        "restante ls",
    ),
    Rule(
        "no-session",
        "No session ever began there.",
        lambda facts: facts.reader is None,
        "no session has begun in {mailbox} yet; the first one is shown it",
        "restante ls",
    ),
    Rule(
        "passed-by",
        "A checkpoint came after the post and did not show it: other mail filled it, or the hook fails.",
        was_passed_by,
        "a checkpoint of {reader} came after it ({sign}) and did not show it: other mail came first, or its hook fails",
        "restante doctor{there}",
    ),
    Rule(
        "busy",
        "The session works, and reached no checkpoint since.",
        is_busy,
        "{reader} is busy{busy}, and reached no checkpoint since it was posted",
        "restante watch {session}",
    ),
    Rule(
        "not-monitored",
        "The session is idle, and nothing would wake it.",
        lambda facts: facts.watch is None,
        "{idle}, and its mailbox is not monitored: its next turn shows the message",
        "restante monitor arm {address} --session {session}",
    ),
    Rule(
        "monitor-inactive",
        "There was a monitor, and it was stopped.",
        monitor_is(MonitorState.INACTIVE),
        "{idle}, and the monitor of its mailbox is stopped",
        "restante monitor arm {address} --session {session}",
    ),
    Rule(
        "monitor-expired",
        "The monitor's time ran out.",
        monitor_that(is_over),
        "{idle}, and the monitor of its mailbox expired",
        "restante monitor arm {address} --session {session}",
    ),
    Rule(
        "monitor-error",
        "The monitor gave up after its last tries.",
        monitor_is(MonitorState.ERROR),
        "{idle}, and the monitor of its mailbox gave up: {error}",
        "restante monitor status {address}",
    ),
    Rule(
        "wake-impossible",
        "There is no visible way to wake this session now; its next turn shows it its mail.",
        monitor_that(lambda _, monitor: monitor.hindrance != "" or monitor.adapter == NO_WAY),
        "{idle}, and there is no visible way to wake it: {hindrance}",
        "restante monitor status {address}",
    ),
    Rule(
        "said-collected",
        "The session said that it collected up to this mark, and did not read this message.",
        monitor_that(lambda facts, monitor: 0 < facts.number <= monitor.last_delivered),
        "{reader} said that it collected its mail up to mark {delivered}, and has not read this message",
        "restante monitor status {address}",
    ),
    Rule(
        "woken",
        "A wake was confirmed, and the session has not collected yet.",
        monitor_that(lambda facts, monitor: 0 < facts.number <= monitor.last_woken),
        "{reader} was woken for it, and has not collected it yet",
        "restante watch {session}",
    ),
    Rule(
        "wake-unconfirmed",
        "A wake was sent, and nothing confirms that it arrived.",
        monitor_that(lambda facts, monitor: 0 < facts.number <= monitor.pending and monitor.tries > 0),
        "a wake was sent to {reader}, and nothing confirms that it arrived: {error}",
        "restante monitor status {address}",
    ),
    Rule(
        "scheduled",
        "The session's own scheduled task looks, at its next run.",
        monitor_that(lambda _, monitor: monitor.plan is Plan.SCHEDULED),
        "{idle}, and its scheduled task looks at its next run",
        "restante monitor status {address}",
    ),
    Rule(
        "receiver-dead",
        "The monitor is armed, and no process listens for it.",
        hearing_is(Hearing.NONE, Hearing.GONE),
        "{idle}, and no receiver runs that would wake it",
        "restante monitor run",
    ),
    Rule(
        "receiver-deaf",
        "The monitor is armed, and the process that listens was not heard of for long.",
        hearing_is(Hearing.STALE),
        "{idle}, and the receiver that would wake it was not heard of for {deaf}",
        "restante monitor run",
    ),
    Rule(
        "wake-due",
        "All is as it should be, and the wake is about to be made.",
        lambda _: True,
        "{idle}, its mailbox is monitored, and the wake is due",
        "restante monitor status {address}",
    ),
)
