"""A state machine that drives a home and the twin through the same history, and compares them after every step."""

from __future__ import annotations

import itertools
import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, precondition, rule

from restante.domain.errors import RestanteError
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, Mark
from restante.domain.receipt import Action, Decision
from restante.stores.memory import MemoryMailbox
from restante.testing.fakes import TRICKY_TEXTS, FakeClock, SequentialIds, make_draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from restante.domain.mailbox import Change
    from restante.ports import Mailbox
    from restante.testing.contract.base import ContractBase

_Answer = TypeVar("_Answer")

_LIMITS = Limits(message_bytes=300, pending_messages=6, pending_bytes=900)
_NOBODY = "msg_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzz"
_TEXTS = (*TRICKY_TEXTS, "x" * 300, "\u00e9" * 151)
_WORDS = st.tuples(
    st.sampled_from([None, *Decision]), st.sampled_from([None, *Action]), st.sampled_from(["", "yes", "no: x"])
)


class _MailboxMachine(RuleBasedStateMachine):
    """The rules; ``mailbox_machine`` gives it a home.

    A message is known by its number, which both sides must give alike; each side has ids of its own.
    """

    contract: ContractBase
    directory: str
    rounds = itertools.count()
    numbers = Bundle("numbers")

    @initialize()
    def open(self) -> None:
        self.place = os.path.join(self.directory, f"round-{next(self.rounds)}")
        os.mkdir(self.place)
        self.clock = FakeClock()
        self.home = self.contract.make_mailbox(Path(self.place), self.clock, _LIMITS)
        self.twin = MemoryMailbox(self.home.address, self.clock, SequentialIds(), _LIMITS)
        self.home_ids: dict[int, str] = {}
        self.twin_ids: dict[int, str] = {}
        self.cursor = ""
        self.told: set[tuple[object, ...]] = set()

    def both(
        self, act: Callable[[Mailbox, dict[int, str]], _Answer], *, any_error: bool = False
    ) -> tuple[_Answer, _Answer] | None:
        """Do the same to both; return what both said, or ``None`` when both refused."""
        answers: list[_Answer] = []
        refusals: list[type[RestanteError] | None] = []
        for mailbox, ids in ((self.home, self.home_ids), (self.twin, self.twin_ids)):
            try:
                answers.append(act(mailbox, ids))
                refusals.append(None)
            except RestanteError as error:
                refusals.append(RestanteError if any_error else type(error))
        assert refusals[0] == refusals[1]
        return None if refusals[0] else (answers[0], answers[1])

    @rule(
        target=numbers,
        body=st.sampled_from(_TEXTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        client=st.sampled_from(["", "", "c1", "c2", "c3"]),
        lives=st.none() | st.integers(-1, 300),
    )
    def post(self, body: str, client: str, lives: int | None) -> object:
        if not self.contract.holds(body):
            return multiple()
        expires = None if lives is None else self.clock.now() + timedelta(seconds=lives)
        draft = make_draft(body, client_id=client, expires=expires)
        answers = self.both(lambda mailbox, _: mailbox.post(draft))
        if answers is None:
            return multiple()
        home, twin = answers
        assert home.duplicate == twin.duplicate
        assert home.message.number == twin.message.number
        self.home_ids[home.message.number] = home.message.id
        self.twin_ids[twin.message.number] = twin.message.id
        return multiple() if home.duplicate else home.message.number

    @rule(chosen=st.lists(numbers, max_size=3), mark=st.sampled_from(Mark))
    def mark(self, chosen: list[int], mark: Mark) -> None:
        self.both(lambda mailbox, ids: mailbox.mark([_NOBODY, *(ids[one] for one in chosen)], mark, "agent"))

    @rule(chosen=st.lists(st.tuples(numbers | st.just(0), _WORDS), min_size=1, max_size=3))
    def acknowledge(self, chosen: list[tuple[int, tuple[Decision | None, Action | None, str]]]) -> None:
        self.both(
            lambda mailbox, ids: mailbox.acknowledge(
                [Acknowledgement(ids.get(number, _NOBODY), *words) for number, words in chosen], "agent"
            ),
            any_error=len(chosen) > 1,
        )

    @rule(to=numbers | st.none() | st.just(0), body=st.sampled_from(_TEXTS[1:]))
    def reply(self, to: int | None, body: str) -> None:
        short = body if len(body.encode()) <= _LIMITS.message_bytes else body[:100]
        self.both(lambda mailbox, ids: mailbox.reply("" if to is None else ids.get(to, _NOBODY), short, "agent"))

    @rule(number=numbers)
    def withdraw(self, number: int) -> None:
        self.both(lambda mailbox, ids: mailbox.withdraw(ids[number]))

    @rule(seconds=st.sampled_from([0.001, 1, 60, 300, 7200]))
    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @precondition(lambda self: self.contract.archive_of(self.home) is not None)
    @rule()
    def archive(self) -> None:
        archive = self.contract.archive_of(self.home)
        assert archive
        home, twin = archive.archive(), self.twin.archive()
        assert (home.moved, home.kept) == (twin.moved, twin.kept)

    @rule()
    def reopen(self) -> None:
        self.home = self.contract.reopen(self.home, Path(self.place), self.clock, _LIMITS)

    @rule(limit=st.integers(1, 4))
    def follow(self, limit: int) -> None:
        answer = self.home.changes_since(self.cursor, limit)
        assert len(answer.changes) <= limit
        self.told |= self.names(self.home, answer.changes)
        self.cursor = answer.cursor

    @invariant()
    def both_hold_the_same(self) -> None:
        views = [self.view(self.home, self.home_ids), self.view(self.twin, self.twin_ids)]
        assert views[0] == views[1]
        assert self.home.counts() == self.twin.counts()
        assert self.home.faults() == []

    @invariant()
    def each_can_be_asked_for(self) -> None:
        for number, one in self.home_ids.items():
            assert self.home.entry(one).standing == self.twin.entry(self.twin_ids[number]).standing

    def view(self, mailbox: Mailbox, ids: dict[int, str]) -> list[object]:
        """Return everything a mailbox says, without the ids that each side makes for itself."""
        known = {one: number for number, one in ids.items()}
        entries = [(entry.message.number, entry.message.body, entry.standing) for entry in mailbox.entries()]
        pending = [entry.message.number for entry in mailbox.entries(pending_only=True)]
        receipts = [
            (known[one.message_id], one.seen_at, one.decision, one.action, one.summary)
            for number in ids
            for one in mailbox.receipts(ids[number])
        ]
        replies = [(known.get(one.to, 0), one.created, one.body) for one in mailbox.replies()]
        return [entries, pending, receipts, replies]

    def names(self, mailbox: Mailbox, changes: Iterable[Change]) -> set[tuple[object, ...]]:
        """Return what changes are about, in numbers instead of ids."""
        ids = self.home_ids if mailbox is self.home else self.twin_ids
        known = {one: number for number, one in ids.items()}
        return {
            (
                one.kind,
                known.get(one.message_id, 0),
                one.receipt and (one.receipt.seen_at, one.receipt.decision, one.receipt.action, one.receipt.summary),
                one.reply and one.reply.body,
            )
            for one in changes
        }

    def teardown(self) -> None:
        if not hasattr(self, "home"):
            return
        try:
            while (answer := self.home.changes_since(self.cursor, 3)).changes:
                self.told |= self.names(self.home, answer.changes)
                self.cursor = answer.cursor
            assert self.told == self.names(self.twin, self.twin.changes_since("").changes)
        finally:
            self.contract.close(self.home)


def mailbox_machine(contract: ContractBase, directory: str | os.PathLike[str]) -> type[RuleBasedStateMachine]:
    """Return a machine for a home.

    Args:
        contract: The home, as it joined the contract.
        directory: Where the machine may make a directory for each of its runs.
    """
    return type("MailboxMachine", (_MailboxMachine,), {"contract": contract, "directory": os.fspath(directory)})
