"""The contract fails a home that breaks it: each fault here was put into the twin on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from restante.domain.errors import RestanteError
from restante.domain.lifecycle import Status
from restante.domain.mailbox import Mark
from restante.testing import FakeClock, MailboxContract, MemoryMailbox, mailbox_machine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from restante.domain.lifecycle import Standing
    from restante.domain.limits import Limits
    from restante.domain.mailbox import Acknowledgement, Archived, Changes, Counts, Entry, Posted
    from restante.domain.message import Draft, Reply
    from restante.domain.receipt import Receipt


class StripsBodies(MemoryMailbox):
    def post(self, draft: Draft) -> Posted:
        return super().post(draft._replace(body=draft.body.strip()))


class TranslatesNewlines(MemoryMailbox):
    def post(self, draft: Draft) -> Posted:
        return super().post(draft._replace(body=draft.body.replace("\r\n", "\n")))


class ForgetsClientIds(MemoryMailbox):
    def post(self, draft: Draft) -> Posted:
        return super().post(draft._replace(client_id=""))


class DropsTheOldestWhenFull(MemoryMailbox):
    def _check_room(self, sender: object, size: int, now: object) -> None:
        most = self._limits.pending_messages
        while most is not None and self.counts().pending >= most:
            self._records.pop(next(iter(self._records)))


class CountsCharacters(MemoryMailbox):
    def post(self, draft: Draft) -> Posted:
        limits = self._limits
        self._limits = limits._replace(message_bytes=limits.message_bytes * 4)
        try:
            if len(draft.body) <= limits.message_bytes:
                return super().post(draft)
        finally:
            self._limits = limits
        return super().post(draft)


class MarksWhatIsListed(MemoryMailbox):
    def entries(self, *, pending_only: bool = False, after: int = 0, limit: int | None = None) -> list[Entry]:
        found = super().entries(pending_only=pending_only, after=after, limit=limit)
        self.mark([entry.message.id for entry in found], Mark.SEEN, "whoever looked")
        return found


class LastMarkCounts(MemoryMailbox):
    def mark(self, message_ids: Sequence[str], mark: Mark, reader: str) -> None:
        for record in (self._records[one] for one in message_ids if one in self._records):
            record.marks = record.marks._replace(noticed_at=None, seen_at=None)
        super().mark(message_ids, mark, reader)


class StoresHalfTheWords(MemoryMailbox):
    def acknowledge(self, words: Sequence[Acknowledgement], reader: str) -> list[Receipt]:
        return [receipt for word in words for receipt in super(type(self), self).acknowledge([word], reader)]


class DoublesReceipts(MemoryMailbox):
    def acknowledge(self, words: Sequence[Acknowledgement], reader: str) -> list[Receipt]:
        given = super().acknowledge(words, reader)
        for receipt in given:
            self._records[receipt.message_id].receipts.append(receipt)
        return given


class WithdrawsAnything(MemoryMailbox):
    def withdraw(self, message_id: str) -> Standing:
        try:
            return super().withdraw(message_id)
        except RestanteError:
            return self.entry(message_id).standing


class LetsThingsUnexpire(MemoryMailbox):
    def _now(self) -> object:  # type: ignore[override]
        for record in self._records.values():
            record.marks = record.marks._replace(is_expired=False)
        return super()._now()


class HighWaterFalls(MemoryMailbox):
    def counts(self) -> Counts:
        unseen = [entry.message.number for entry in self.entries() if entry.standing.status is Status.UNSEEN]
        return super().counts()._replace(high_water=max(unseen, default=len(self._records)))


class PagesLeaveGaps(MemoryMailbox):
    def changes_since(self, cursor: str, limit: int = 1000) -> Changes:
        answer = super().changes_since(cursor, limit)
        return answer._replace(changes=answer.changes[: max(1, limit - 1)])


class ForgetsTheCursorWhenEmpty(MemoryMailbox):
    def changes_since(self, cursor: str, limit: int = 1000) -> Changes:
        answer = super().changes_since(cursor, limit)
        return answer if answer.changes else answer._replace(cursor="")


class RepliesToAnyone(MemoryMailbox):
    def reply(self, to: str, body: str, reader: str) -> Reply:
        return super().reply(to if to in self._records else "", body, reader)


class ArchivesWhatIsPending(MemoryMailbox):
    def archive(self) -> Archived:
        for record in self._records.values():
            record.archived = True
        return super().archive()


FAULTS = {
    StripsBodies: "test_tricky_texts_come_back_byte_for_byte",
    TranslatesNewlines: "test_any_text_comes_back_byte_for_byte",
    ForgetsClientIds: "test_posting_again_under_one_client_id_posts_once",
    DropsTheOldestWhenFull: "test_a_full_mailbox_refuses_and_drops_nothing",
    CountsCharacters: "test_a_size_is_counted_in_bytes_of_utf8",
    MarksWhatIsListed: "test_looking_changes_no_byte",
    LastMarkCounts: "test_the_first_mark_counts",
    StoresHalfTheWords: "test_words_are_stored_all_or_none",
    DoublesReceipts: "test_saying_the_same_again_returns_the_stored_receipt",
    WithdrawsAnything: "test_what_was_answered_or_expired_cannot_be_withdrawn",
    LetsThingsUnexpire: "test_nothing_unexpires_when_the_clock_is_set_back",
    HighWaterFalls: "test_the_high_water_mark_never_falls",
    PagesLeaveGaps: "test_no_paging_leaves_anything_out",
    ForgetsTheCursorWhenEmpty: "test_an_empty_answer_carries_a_cursor",
    RepliesToAnyone: "test_unknown_ids_are_told_from_known_ones",
    ArchivesWhatIsPending: "test_archiving_moves_what_is_done_and_loses_nothing",
}

MACHINE_FINDS = (
    StripsBodies,
    ForgetsClientIds,
    DropsTheOldestWhenFull,
    LastMarkCounts,
    StoresHalfTheWords,
    DoublesReceipts,
    WithdrawsAnything,
    HighWaterFalls,
    PagesLeaveGaps,
    RepliesToAnyone,
    ArchivesWhatIsPending,
)


class _Faulty(MailboxContract):
    persistent: ClassVar[bool] = False

    def __init__(self, kind: type[MemoryMailbox]) -> None:
        self.kind = kind

    def make_mailbox(self, tmp_path: Path, clock: FakeClock, limits: Limits) -> MemoryMailbox:
        return self.kind("worktree:/somewhere", clock, self.ids, limits)


@pytest.fixture
def by_no_chance() -> Iterator[None]:
    """Let hypothesis try the same in every run, and remember none of the failures that are wanted here."""
    before = settings.get_current_profile_name()
    settings.register_profile("by no chance", settings(), derandomize=True, database=None, max_examples=100)
    settings.load_profile("by no chance")
    yield
    settings.load_profile(before)


@pytest.mark.usefixtures("by_no_chance")
@pytest.mark.parametrize("kind", FAULTS, ids=lambda kind: kind.__name__)
def test_a_fault_is_found_by_the_test_of_that_promise(kind: type[MemoryMailbox], tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        getattr(_Faulty(kind), FAULTS[kind])(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MACHINE_FINDS, ids=lambda one: one.__name__)
def test_a_fault_is_found_by_the_state_machine(kind: type[MemoryMailbox], tmp_path: Path) -> None:
    only_look = settings(
        max_examples=400,
        stateful_step_count=30,
        phases=[Phase.generate],
        database=None,
        derandomize=True,
        deadline=None,
        report_multiple_bugs=False,
    )
    with pytest.raises((AssertionError, KeyError)):
        run_state_machine_as_test(mailbox_machine(_Faulty(kind), tmp_path), settings=only_look)
