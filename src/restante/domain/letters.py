"""A mailbox as it is shown to a person: which messages, in threads, with the steps that each went."""

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.case import Case
from restante.domain.mailbox import Counts
from restante.domain.text import sender_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class View(NamedTuple):
    """A window of a mailbox.

    Attributes:
        address: The mailbox.
        name: What people call it.
        cases: Messages with all that was said of them, the newest first.
        older: Number before which there are older ones; 0 for none.
        counts: The numbers of the mailbox.
        now: The time of the look.
        names: What the sessions are called that wrote, by their addresses.
    """

    address: str
    name: str
    cases: tuple[Case, ...]
    older: int
    counts: Counts
    now: datetime
    names: "Mapping[str, str]"


class Step(NamedTuple):
    """One thing that became of a message.

    Attributes:
        name: ``queued``, ``noticed``, ``seen``, ``decision``, ``action``, ``withdrawn`` or ``expired``.
        at: When; ``None`` where nobody said.
        word: Which decision or action.
    """

    name: str
    at: datetime | None
    word: str = ""


class Letter(NamedTuple):
    """A message as it is shown.

    Attributes:
        case: All there is to know of it.
        sender: Who it is from, in words.
        steps: What became of it, in order.
    """

    case: Case
    sender: str
    steps: tuple[Step, ...]


class Thread(NamedTuple):
    """Messages of one conversation, the newest first; a message of none is one by itself."""

    letters: tuple[Letter, ...]


def threads_of(cases: "Iterable[Case]", names: "Mapping[str, str]") -> list[Thread]:
    """Return messages by their conversations, in the order of the newest of each.

    Args:
        cases: The messages, the newest first.
        names: What the sessions are called that wrote them, by their addresses.
    """
    threads: dict[str, list[Letter]] = {}
    for case in cases:
        message = case.entry.message
        threads.setdefault(message.conversation or f"\0{message.id}", []).append(_letter(case, names))
    return [Thread(tuple(letters)) for letters in threads.values()]


def _letter(case: Case, names: "Mapping[str, str]") -> Letter:
    sender = case.entry.message.sender
    name = names.get(sender.name, "")
    words = sender_words(sender.name, name, is_verified=sender.verified) if name else sender.label
    return Letter(case, words, tuple(_steps(case)))


def _steps(case: Case) -> list[Step]:
    standing, message = case.entry.standing, case.entry.message
    steps = [Step("queued", message.created)]
    if standing.noticed_at:
        steps.append(Step("noticed", standing.noticed_at))
    if standing.seen_at:
        steps.append(Step("seen", standing.seen_at))
    for receipt in case.receipts:
        if receipt.decision:
            steps.append(Step("decision", receipt.seen_at, receipt.decision.value))
        if receipt.action:
            steps.append(Step("action", receipt.seen_at, receipt.action.value))
    ends = (("withdrawn", standing.withdrawn_at), ("expired", standing.expired_at))
    return [*steps, *(Step(name, at) for name, at in ends if standing.status.value == name)]
