"""What a receiver can do with a message now, each choice with its exact side effects. Pure; nothing is done here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from restante.autonomy.grants import requested_grant
from restante.autonomy.wording import in_words, is_hard
from restante.domain.inquiry import SKIP, Choice, Inquiry
from restante.domain.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GATED = frozenset(("task_request", "question", "brainstorm_request", "brainstorm_followup", "handoff"))
REVIEWS = frozenset(("review_request", "review_feedback", "review_addressed", "review_lgtm"))
# What asks for work or a verdict of ours; the rest is news.
_REVIEWED = frozenset(("review_request", "review_addressed", "review_feedback"))
_TALK = frozenset(("question", "brainstorm_request", "brainstorm_followup"))
# News whose archiving needs nobody's judgement beyond having seen it.
NEWS = frozenset(("notification", "follow_up", "review_lgtm", "handoff_complete"))
_RECEIPT = re.compile(
    r"\backnowledg|\bplease (?:confirm|reply|respond)|\bconfirm (?:receipt|that)|\breply (?:when|once|with|to confirm)"
    r"|\blet me know\b|\back (?:this|when|please)|\bplease ack\b|\breceipt (?:requested|please)",
    re.IGNORECASE,
)
_KEPT = "the message stays in the inbox until the work has ended"


class Facts:
    """What choices are made from.

    Args:
        file: The message's file.
        digest: SHA-256 of its bytes.
        fields: The message.
        record: The audit record's file; empty for none.
        receiver: Whose inbox.
    """

    def __init__(self, file: str, digest: str, fields: dict[str, object], receiver: str, record: str = "") -> None:
        self.file = file
        self.digest = digest
        self.fields = fields
        self.record = record
        self.receiver = receiver

    def text(self, name: str) -> str:
        """Return a field as text."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    @property
    def sender(self) -> str:
        """Who wrote it, fit to be shown."""
        return one_line(self.text("from"), 64)

    @property
    def archives(self) -> str:
        """What archiving does."""
        return f"move the message to inbox/archive/{one_line(self.file, 255)}, these very bytes"

    def sends(self, kind: str = "notification") -> str:
        """What answering does."""
        return f"send a {kind} to {self.sender} in the message's thread"

    def writes(self, what: str) -> str:
        """What recording does."""
        return f"write {what} into the audit record {self.record}"

    def inquiry(
        self, stage: str, why: str, choices: Sequence[Choice], recommended: str = "", reasons: Sequence[str] = ()
    ) -> Inquiry:
        """Return the inquiry."""
        to = self.fields.get("to")
        named = to if isinstance(to, list) else [to]
        warnings = () if self.receiver in named else ("it does not name you as one of its addressees",)
        told = tuple((code, in_words(code)) for code in reasons)
        return Inquiry(
            stage, self.file, self.digest, self.fields, why, tuple(choices), recommended, told, self.record, warnings
        )


def reply_of(fields: Mapping[str, object]) -> tuple[str, str]:
    """Return type and subject of the answer that ends work on a message."""
    subject = str(fields.get("subject") or "")
    kind, opening = ("notification", "Re: ")
    if fields.get("type") == "handoff":
        kind, opening = "handoff_complete", "Handoff complete: "
    return kind, (subject if subject.startswith(opening) else opening + subject)[:200]


def asks_receipt(fields: Mapping[str, object]) -> bool:
    """Tell whether a message asks to be acknowledged; rather once too often, since then somebody is asked."""
    subject = str(fields.get("subject"))
    # An answer's subject is that of what it answers: whoever asked would be answered for ever.
    asked = "" if subject.startswith("Re: ") else subject
    return _RECEIPT.search(f"{asked}\n{fields.get('body')}") is not None


def admission(facts: Facts, reasons: Sequence[str], profile: object) -> Inquiry:
    """Ask whether work may start that the gates held back."""
    asks_grant = requested_grant(profile).is_present
    grants = ("the grant that it asks for is denied unless the answer says grant: approved",) if asks_grant else ()
    choices = (
        Choice(
            "1",
            "approve",
            "let the work start",
            (facts.writes("your approval"), *grants, "send nothing", _KEPT),
        ),
        Choice(
            "2",
            "modify",
            "let it start with a change that your note names",
            (facts.writes("your approval with the change"), *grants, "send nothing", _KEPT),
            ("note",),
        ),
        Choice(
            "3",
            "decline",
            "decline the work",
            (facts.writes("that you declined"), facts.sends(), facts.archives),
        ),
    )
    hard = any(is_hard(code) for code in reasons)
    why = f"{facts.sender} asks for work that may not start without you"
    return facts.inquiry("admission", why, choices, SKIP if hard else "", reasons)


def work(facts: Facts, *, is_new: bool) -> Inquiry:
    """Ask what became of work that may be done."""
    kind, _ = reply_of(facts.fields)
    counts = ("reply",) if facts.text("type") in _TALK else ("reply", "files")
    choices = (
        Choice(
            "1",
            "done",
            "the work is done",
            (facts.sends(kind), facts.writes("its end and what was measured"), facts.archives),
            counts,
        ),
        Choice(
            "2",
            "progress",
            "it goes on, or waits for somebody",
            (facts.sends(), facts.writes("a checkpoint"), _KEPT),
            counts,
        ),
        Choice(
            "3",
            "failed",
            "it cannot be done",
            (facts.sends(), facts.writes("that it failed"), "the message stays in the inbox"),
            counts,
        ),
    )
    may = "may start now" if is_new else "was let in before and has not ended"
    return facts.inquiry("work", f"work for {facts.sender} {may}", choices)


def notice(facts: Facts) -> Inquiry:
    """Ask what to do with news."""
    if asks_receipt(facts.fields):
        choices = (
            Choice("1", "receipt", "send a receipt and archive", (facts.sends(), facts.archives)),
            Choice("2", "archive", "archive without an answer", ("send nothing", facts.archives)),
        )
        return facts.inquiry("notice", f"{facts.sender} asks for a receipt", choices, "1")
    choices = (
        Choice("1", "archive", "archive it as read", ("send nothing", facts.archives)),
        Choice("2", "reply", "answer and archive", (facts.sends(), facts.archives), ("reply",)),
    )
    return facts.inquiry("notice", f"news of {facts.sender}", choices, "1")


def review(facts: Facts, reasons: Sequence[str] = ()) -> Inquiry:
    """Ask about a step of a review, which starts only with a person's word."""
    number = one_line(facts.text("related_pr"), 20)
    choices = (
        Choice(
            "1",
            "reviewed",
            f"it was dealt with, and what belongs to pull request {number} was sent",
            ("send nothing more", facts.archives),
        ),
        Choice("2", "reply", "it was dealt with; answer, and archive", (facts.sends(), facts.archives), ("reply",)),
    )
    why = f"{facts.sender} writes about the review of pull request {number}; let its work start only with your word"
    return facts.inquiry("review", why, choices, reasons=reasons)


def granted_review(facts: Facts, scope: object) -> Inquiry:
    """Ask what became of a review that a person's grant lets run."""
    asked = work(facts, is_new=True)
    bound = f"within the effects that were granted: {scope}"
    return asked._replace(warnings=(*asked.warnings, bound))


def closing(facts: Facts, why: str) -> Inquiry:
    """Ask whether a message may go of which everything else was done, or nothing is to be done."""
    choices = (
        Choice("1", "archive", "archive it", ("send nothing", facts.archives)),
        Choice("2", "reply", "answer and archive", (facts.sends(), facts.archives), ("reply",)),
    )
    return facts.inquiry("closing", why, choices)


def is_news(kind: str) -> bool:
    """Tell whether a type of message asks for nothing of ours."""
    return kind not in GATED and kind not in _REVIEWED
