"""The public Python API of one worktree's mailbox: everything a face can ask for, each in one call.

    >>> from restante import Draft, open_office
    >>> office = open_office(".")
    >>> sent = office.send(Draft("Leave the auth module alone."))
    >>> office.case(sent.posted.message.id).entry.standing.status
    <Status.UNSEEN: 'unseen'>

It holds no state of its own; what it is made of comes in through ``Parts``, which builds each part when it is first
asked for. What belongs to no worktree has a class of its own beside it, made in the same way: ``exchange`` (mail
between sessions), ``roster`` (teams and roles), ``vigil`` (monitors), ``intake`` (verified intake), ``tracing`` (why).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from restante.domain.ids import is_well_formed, resolve
from restante.domain.mailbox import Acknowledgement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from restante.config import Settings
    from restante.domain.case import Case, Sent, Snapshot, Timeline
    from restante.domain.checkpoint import Checkpoint, Delivery
    from restante.domain.finding import Finding
    from restante.domain.lifecycle import Status
    from restante.domain.mailbox import Archived, Changes, Counts, Entry, Posted
    from restante.domain.message import Draft, Reply
    from restante.domain.receipt import Action, Decision, Receipt
    from restante.domain.repeat import Repeat
    from restante.domain.session import Caller, Thread
    from restante.domain.setup import Check, Plan
    from restante.ports import (
        Archive,
        Bell,
        Clock,
        Ids,
        Installer,
        Mailbox,
        Notebook,
        RepeatBook,
        Scanner,
        Threads,
        Watcher,
    )
    from restante.ports.monitoring import Doorbells
    from restante.ports.sessions import OwnMail
    from restante.services.repeats import RunResult


class Parts(Protocol):
    """What an office is made of."""

    @property
    def settings(self) -> Settings:
        """The values in force."""

    @property
    def clock(self) -> Clock:
        """Where time comes from."""

    @property
    def ids(self) -> Ids:
        """Where ids come from."""

    @property
    def caller(self) -> Caller:
        """Who is calling."""

    @property
    def command(self) -> str:
        """How an agent calls Restante."""

    @property
    def mailbox(self) -> Mailbox:
        """Where the mail is."""

    @property
    def archive(self) -> Archive:
        """What moves answered mail aside."""

    @property
    def notebook(self) -> Notebook:
        """What remembers what checkpoints showed."""

    @property
    def bell(self) -> Bell:
        """The sign that mail waits."""

    @property
    def doorbells(self) -> Doorbells:
        """The sign for whoever monitors the mailbox."""

    @property
    def repeats(self) -> RepeatBook:
        """Where repeats are kept."""

    @property
    def scanners(self) -> Sequence[Scanner]:
        """What screens a text beside our own rules."""

    @property
    def watcher(self) -> Watcher:
        """What hints at changes."""

    @property
    def installer(self) -> Installer:
        """What teaches agent programs."""

    @property
    def threads(self) -> Threads:
        """What reads an agent program's conversations."""

    def mailbox_checks(self) -> list[Check]:
        """Look at the mailbox itself."""

    def pending_in(self, directory: str) -> int | None:
        """Count what waits in the mailbox of another directory; ``None`` where there is none to look into."""


class Office:
    """Leaves, collects and follows mail in one mailbox. Errors are those of ``restante.domain.errors``."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @property
    def address(self) -> str:
        """The mailbox's address."""
        return self._parts.mailbox.address

    @property
    def caller(self) -> Caller:
        """Who is calling."""
        return self._parts.caller

    @property
    def settings(self) -> Settings:
        """The values in force."""
        return self._parts.settings

    @property
    def clock(self) -> Clock:
        """Where time comes from."""
        return self._parts.clock

    # -- the person's side ---------------------------------------------------------------------------------

    def send(self, draft: Draft, *, allow_warnings: bool = False, repeat_ms: int | None = None) -> Sent:
        """Screen and post a message; with ``repeat_ms``, post it again every so many milliseconds.

        What a session sends is from that session, whatever the draft says.

        Raises:
            UsageError: The text is empty, the expiry has passed, the interval is too short, or a message with a
                subject or an expiry was to be repeated.
            TooLarge: The text is over the limit.
            Screened: Screening found something, and warnings were not allowed.
            Refused: A session asked for a repeat.
            Damaged: The book of repeats cannot be understood; nothing was posted.
        """
        from restante.domain.case import Sent
        from restante.domain.limits import Limits
        from restante.domain.message import Sender
        from restante.services import posting

        if self.caller.is_agent:
            draft = draft._replace(sender=Sender(self.caller.name))
        limits = Limits(message_bytes=self._parts.settings.message_bytes)
        posting.check_expiry(draft.expires, self._parts.clock.now())
        posting.check_draft(draft, limits, self.screen, allow_warnings=allow_warnings)
        if repeat_ms is None:
            return Sent(self._ringing(posting.post(self._parts.mailbox, draft)))
        from restante.services import repeats

        posting.check_repeatable(draft)
        repeats.check_interval(repeat_ms)
        # A book that cannot be read must be found before there is a message that nobody repeats.
        self._parts.repeats.all()
        posted = self._ringing(posting.post(self._parts.mailbox, draft))
        repeat = repeats.add_repeat(
            self._parts.repeats,
            self._parts.ids,
            self._parts.clock,
            posted.message,
            interval_ms=repeat_ms,
            allow_warnings=allow_warnings,
        )
        return Sent(posted, repeat)

    def screen(self, text: str) -> list[Finding]:
        """Return what a sender should think about before the text leaves."""
        from restante.services.screening import RuleScanner, screen

        return screen(text, (RuleScanner(), *self._parts.scanners))

    def withdraw(self, message: str) -> Entry:
        """Take a message back before it was acknowledged; a whole id, or a part that only it has.

        Raises:
            NoSuchMessage: There is none.
            IllegalStep: It was acknowledged or expired before.
        """
        message_id = self._resolve(message)
        self._parts.mailbox.withdraw(message_id)
        return self._parts.mailbox.entry(message_id)

    def case(self, message: str) -> Case:
        """Return all there is to know of one message; a whole id, or a part that only it has.

        Raises:
            NoSuchMessage: There is none.
            MailboxDeleted: There was one, and its mailbox was deleted.
        """
        from restante.domain.case import Case

        mailbox = self._parts.mailbox
        entry = mailbox.entry(self._resolve(message))
        message_id = entry.message.id
        return Case(entry, tuple(mailbox.receipts(message_id)), tuple(mailbox.replies(message_id)))

    def cases(self) -> list[Case]:
        """Return every message of the mailbox with what became of it."""
        from restante.domain.case import Case

        mailbox = self._parts.mailbox
        replies: dict[str, list[Reply]] = {}
        for reply in mailbox.replies():
            replies.setdefault(reply.to, []).append(reply)
        return [
            Case(entry, tuple(mailbox.receipts(entry.message.id)), tuple(replies.get(entry.message.id, ())))
            for entry in mailbox.entries()
        ]

    def timeline(self, *, before: int, limit: int, fits: Callable[[Status], bool], find: str = "") -> Timeline:
        """Return the newest messages, with all that was said of each; see ``services.looking.timeline``."""
        return timeline_of(self._parts.mailbox, before=before, limit=limit, fits=fits, find=find)

    def snapshot(self) -> Snapshot:
        """Return the mailbox as a whole. A damaged book of repeats is told as a fault; mail can still be read."""
        from restante.domain.case import Snapshot
        from restante.domain.errors import Damaged
        from restante.domain.mailbox import Fault

        mailbox = self._parts.mailbox
        cursor = mailbox.tip()
        cases = tuple(self.cases())
        faults = mailbox.faults()
        try:
            repeats = tuple(self._parts.repeats.all())
            faults = [*faults, *self._parts.repeats.faults()]
        except Damaged as error:
            repeats = ()
            faults = [*faults, Fault("STATE.json", 0, error.message)]
        known = {case.entry.message.id for case in cases}
        loose = tuple(reply for reply in mailbox.replies() if reply.to not in known)
        return Snapshot(mailbox.address, mailbox.counts(), cases, loose, repeats, tuple(faults), cursor)

    def counts(self) -> Counts:
        """Return the mailbox's numbers."""
        return self._parts.mailbox.counts()

    def tip(self) -> str:
        """Return the cursor after which only what happens from now on is told."""
        return self._parts.mailbox.tip()

    def follow(self, cursor: str, timeout: float | None = None) -> Iterator[Changes]:
        """Yield changes after a cursor as they happen; the empty cursor stands for the beginning.

        Args:
            cursor: Where to begin; see ``tip``.
            timeout: End after so many seconds.
        """
        from restante.services.watching import follow

        return follow(self._parts.mailbox, self._parts.watcher, cursor, timeout)

    def archive(self) -> Archived:
        """Move answered, expired and withdrawn mail aside."""
        return self._parts.archive.archive()

    # -- the agent's side ----------------------------------------------------------------------------------

    def inbox(self, messages: Sequence[str] = (), *, wait: float | None = None, after: int = 0) -> list[Entry]:
        """Return pending messages, the most urgent first; with ids, just those, whatever became of them.

        Args:
            messages: Ids, or parts that only one message has.
            wait: Wait so many seconds for unseen mail; an empty list when none came.
            after: Only messages with a greater number.
        """
        mailbox = self._parts.mailbox
        if messages:
            return [mailbox.entry(self._resolve(one)) for one in messages]
        if wait is not None:
            from restante.services.waiting import wait_for_mail

            entries = wait_for_mail(mailbox, self._parts.watcher, wait, after)
        else:
            entries = mailbox.entries(pending_only=True, after=after)
        return sorted(entries, key=lambda entry: (entry.message.priority.rank, entry.message.number))

    def hand_over(
        self, entries: Sequence[Entry], show: Callable[[Sequence[Entry]], None], *, only_noticed: bool = False
    ) -> None:
        """Show entries; if the caller is an agent they are marked seen once ``show`` returned.

        Args:
            entries: What to show.
            show: Writes them out whole, or raises.
            only_noticed: Mark them as noticed, because nobody may be reading any more.
        """
        from restante.services.collecting import read_inbox

        read_inbox(self._parts.mailbox, self._parts.caller, entries, show, only_noticed=only_noticed)

    def acknowledge(
        self,
        messages: Sequence[str],
        *,
        decision: Decision | None = None,
        action: Action | None = None,
        summary: str = "",
        notes: str = "",
    ) -> list[Receipt]:
        """Store the addressee's word on messages, all or none.

        Raises:
            UsageError: Neither a decision nor an action is given.
            NoSuchMessage: A message is unknown.
            IllegalStep: A message was withdrawn.
            Refused: The caller is nested in the session that the mail is for.
        """
        from restante.services.acknowledging import acknowledge

        self._check_addressee()
        ids = [self._resolve(one) for one in messages]
        words = [Acknowledgement(one, decision, action, summary, notes) for one in dict.fromkeys(ids)]
        return acknowledge(self._parts.mailbox, self._parts.bell, words, self._parts.caller)

    def reply(self, message: str, text: str) -> Reply:
        """Store the addressee's words on a message; they acknowledge nothing.

        Raises:
            UsageError: There are none.
            NoSuchMessage: The message is unknown.
            Refused: The caller is nested in the session that the mail is for.
        """
        from restante.domain.errors import UsageError
        from restante.domain.limits import Limits, check_text

        self._check_addressee()
        if not text.strip():
            raise UsageError("the reply is empty", remedy='restante reply ID "text"')
        check_text(text, Limits(message_bytes=self._parts.settings.message_bytes), what="reply")
        to = self._resolve(message) if message else ""
        return self._parts.mailbox.reply(to, text, self._parts.caller.name if self._parts.caller.is_agent else "")

    def checkpoint(self, checkpoint: Checkpoint, own: OwnMail | None = None) -> Delivery | None:
        """Decide what an agent's checkpoint shows; ``None`` for nothing.

        Args:
            checkpoint: The moment and the session.
            own: The session's own mail, where there is any to look for.
        """
        from datetime import timedelta

        from restante.domain.checkpoint import Manner
        from restante.domain.errors import Busy, StorageFailed, Unsafe
        from restante.services.collecting import collect, collect_without_memory

        parts = self._parts
        manner = Manner(
            max_bytes=parts.settings.checkpoint_max_bytes,
            show_again=timedelta(seconds=parts.settings.show_again),
            command=parts.command,
        )
        try:
            return collect(
                parts.mailbox, parts.notebook, parts.bell, parts.clock, checkpoint=checkpoint, manner=manner, own=own
            )
        except (StorageFailed, Busy, Unsafe):
            return collect_without_memory(parts.mailbox, parts.clock, checkpoint, manner, own)

    # -- repeats ---------------------------------------------------------------------------------------------

    def repeats(self) -> list[Repeat]:
        """Return the repeats in the order they were made."""
        return self._parts.repeats.all()

    def repeat(self, repeat: str) -> Repeat:
        """Return one repeat; a whole id, or a part that only it has.

        Raises:
            NothingThere: There is none.
        """
        from restante.domain.errors import NothingThere

        repeat_id = self._resolve_repeat(repeat)
        for one in self._parts.repeats.all():
            if one.id == repeat_id:
                return one
        raise NothingThere(f"no repeat {repeat!r}", remedy="restante repeats list")

    def set_repeat_active(self, repeat: str, active: bool) -> Repeat:
        """Pause or resume a repeat; a whole id, or a part that only it has."""
        book = self._parts.repeats
        return book.set_active(self._resolve_repeat(repeat), active, self._parts.clock.now())

    def remove_repeat(self, repeat: str) -> str:
        """Forget a repeat and return its id."""
        repeat_id = self._resolve_repeat(repeat)
        self._parts.repeats.remove(repeat_id)
        return repeat_id

    def run_repeats(self, limit: int = 10) -> RunResult:
        """Post what is due; any number of runners post each once."""
        from restante.services.repeats import run_due

        parts = self._parts
        done = run_due(parts.repeats, parts.mailbox, self.screen, parts.clock, limit=limit)
        if done.sent:
            parts.doorbells.ring(self.address)
        return done

    # -- setting up ------------------------------------------------------------------------------------------

    def plan_install(self, agents: Sequence[str], *, intake: bool = False, tools: str = "") -> Plan:
        """Return what installing for agent programs changes."""
        return self._parts.installer.plan_install(agents, intake=intake, tools=tools)

    def plan_uninstall(self) -> Plan:
        """Return what removing everything of ours from the worktree's files changes."""
        return self._parts.installer.plan_uninstall()

    def plan_trust(self) -> Plan:
        """Return the changes to the person's own configuration that make the hooks trusted."""
        return self._parts.installer.plan_trust()

    def apply(self, plan: Plan) -> None:
        """Make all changes of a plan, or none."""
        self._parts.installer.apply(plan)

    def checks(self) -> list[Check]:
        """Look at the mailbox, at the repeats and at what is installed."""
        return [*self._parts.mailbox_checks(), self._check_repeats(), *self._parts.installer.checks()]

    def threads(self) -> list[Thread]:
        """Return the conversations of the agent program, the most recently changed first, with what waits for each."""
        pending_in = self._parts.pending_in
        return [one._replace(pending=pending_in(one.directory)) for one in self._parts.threads.list()]

    def _check_addressee(self) -> None:
        if self.caller.is_nested:
            from restante.domain.errors import Refused

            raise Refused(
                "this run is nested in a tool of another session of this worktree, and the mail is for that session",
                remedy="let that session answer; or set RESTANTE_NESTED=1 if this run is meant to",
            )

    def _check_repeats(self) -> Check:
        from restante.domain.errors import RestanteError
        from restante.domain.setup import Check

        try:
            found = self._parts.repeats.all()
        except RestanteError as error:
            return Check("repeats", ok=False, detail=error.message, remedy=error.remedy)
        return Check("repeats", ok=True, detail=f"{sum(one.active for one in found)} active of {len(found)}")

    # -- helpers ---------------------------------------------------------------------------------------------

    def _ringing(self, posted: Posted) -> Posted:
        self._parts.doorbells.ring(self.address)
        return posted

    def _resolve(self, message: str) -> str:
        if is_well_formed(message, "msg"):
            return message
        return resolve(message, self._parts.mailbox.ids())

    def _resolve_repeat(self, repeat: str) -> str:
        if is_well_formed(repeat, "auto"):
            return repeat
        known = (one.id for one in self._parts.repeats.all())
        return resolve(repeat, known, what="repeat", remedy="restante repeats list")


def timeline_of(
    mailbox: Mailbox, *, before: int, limit: int, fits: Callable[[Status], bool], find: str = ""
) -> Timeline:
    """Return the newest messages of a mailbox of any home; see ``services.looking.timeline``."""
    from restante.services.looking import timeline

    return timeline(mailbox, before=before, limit=limit, fits=fits, find=find)
