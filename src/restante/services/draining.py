"""Working off an inbox: each message read, gated, asked about, dealt with, and archived only after all of that.

One round looks at what waits, in the order of work, and again while new messages come. Nothing is done that was not
told before, and nothing that nobody chose; whatever goes wrong leaves the message where it is. What follows an answer
is written down before the answer goes out: a round that comes after a kill ends it, and never answers again.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol

from restante.autonomy import offers
from restante.autonomy.instants import parse_instant, show_instant
from restante.autonomy.measuring import Wish
from restante.autonomy.record import state_digest
from restante.autonomy.record_checks import is_admitted
from restante.autonomy.vocabulary import LIVE_STATES
from restante.autonomy.workclock import part, pause_state
from restante.domain.errors import Refused, RestanteError, UsageError
from restante.domain.inquiry import SKIP, Closing, Inquiry, Step, Word
from restante.domain.text import one_line
from restante.ports.receiving import After, Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from restante.domain.intake import Intake
    from restante.ports import Clock
    from restante.ports.receiving import Desk, Records

_SHOWN = 80
_NO_REPLY = "Received. Thank you."
_STAYS = {
    "in-progress": "its work has not ended with success",
    "failed": "its work has not ended with success",
    "awaiting-approval": "its work went beyond what was declared",
}


class Verdict(Protocol):
    """What the gates said."""

    @property
    def record(self) -> dict[str, object]:
        """The audit record."""

    @property
    def name(self) -> str:
        """Its file."""

    @property
    def is_replay(self) -> bool:
        """Whether the message was accepted before."""


class Concluded(Protocol):
    """What became of a record."""

    @property
    def record(self) -> dict[str, object]:
        """The record."""

    @property
    def is_breached(self) -> bool:
        """Whether the work must stop."""


class Acts(NamedTuple):
    """What a round does, each in one call.

    Attributes:
        read: Reads a message, verified.
        gate: Evaluates one, on record.
        decide: Writes a person's decision: record, decision, answer.
        conclude: Writes a checkpoint or an end: record, wish, whether only to find out.
        desk: The inbox and the way out.
        records: The audit records.
        clock: The time.
        receiver: Whose inbox.
        grants_enabled: Whether grants for threads are recognised.
    """

    read: Callable[[str], Intake]
    gate: Callable[[Intake], Verdict]
    decide: Callable[[str, str, Word], dict[str, object]]
    conclude: Callable[[str, Wish, bool], Concluded]
    desk: Desk
    records: Records
    clock: Clock
    receiver: str
    grants_enabled: bool


class Round:
    """One round through an inbox.

    Args:
        acts: What it does.
        ask: Puts an inquiry to whoever decides; ``None`` leaves the message as it is.
        tell: Hears what is about to happen and what has.
    """

    def __init__(self, acts: Acts, ask: Callable[[Inquiry], Word | None], tell: Callable[[Step], None]) -> None:
        self._acts = acts
        self._ask = ask
        self._tell = tell
        self._handled: dict[str, int] = {}
        self._retained: dict[str, str] = {}

    def run(self) -> Closing:
        """Work off what waits until a look finds nothing new."""
        # Whoever acts now leaves nothing, and what cannot be tidied harms nothing.
        with suppress(RestanteError), self._acts.desk.alone():
            self._acts.desk.tidy()
        looked: set[str] = set()
        while names := [one for one in self._acts.desk.waiting() if one not in looked]:
            looked.update(names)
            # Only where each one belongs is kept of them: an inbox may hold more than memory does.
            found = ((name, self._read(name)) for name in names)
            places = sorted((self._place(name, one), name, one.digest) for name, one in found if one is not None)
            for _, name, digest in places:
                try:
                    if (taken := self._again(name, digest)) is not None:
                        self._process(name, taken)
                except RestanteError as error:
                    self._keep(name, "failed", f"{error.message}{f'; {error.remedy}' if error.remedy else ''}")
        return Closing(self._handled, self._retained)

    def _place(self, name: str, taken: Intake) -> tuple[int, int, str, str]:
        fields = taken.fields or {}
        return self._acts.desk.place(name, str(fields.get("priority")), str(fields.get("type")))

    def _read(self, name: str) -> Intake | None:
        """Return a message that may be shown; what may not is reported and stays."""
        taken = self._acts.read(name)
        if taken.is_held:
            auth = taken.verified.auth if taken.verified else {}
            facts: dict[str, object] = {
                "auth": auth,
                "disposition": taken.disposition,
                "quarantine_copy": taken.quarantine,
            }
            why = taken.policy_error or str(auth.get("reason") or auth.get("status") or "not verified")
            self._tell(Step("held", f"{name} is held: {why}; evidence: {taken.quarantine}", name, facts))
            self._retained[name] = "held"
        elif taken.fields is None:
            self._keep(name, "malformed", taken.error or "it could not be read")
        elif taken.errors:
            self._keep(name, "malformed", "; ".join(taken.errors))
        else:
            return taken
        return None

    def _again(self, name: str, digest: str) -> Intake | None:
        """Return a message that was read before, if it is still the same."""
        taken = self._acts.read(name)
        return self._read(name) if taken.is_held else taken if self._is_there(name, digest, taken) else None

    def _keep(self, name: str, word: str, why: str) -> None:
        self._retained[name] = word
        self._tell(Step("retained", f"{name} stays: {why}", name, {"reason": word}))

    def _process(self, name: str, taken: Intake) -> None:
        fields = taken.fields or {}
        kind = str(fields.get("type"))
        if self._acts.desk.begun(taken.digest) is not None:
            self._end_begun(name, taken)
            return
        expires = parse_instant(fields.get("expires_at"))
        if expires is not None and self._acts.clock.now() >= expires:
            self._keep(name, "expired", f"it expired at {show_instant(expires)}")
        elif kind in offers.REVIEWS and not fields.get("related_pr"):
            self._keep(name, "malformed", f"a {kind} needs related_pr")
        elif kind in offers.GATED:
            self._task(name, taken)
        elif kind in ("review_request", "review_addressed") and self._acts.grants_enabled:
            self._granted(name, taken)
        elif offers.is_news(kind):
            self._settle(name, taken, offers.notice(self._facts(name, taken)))
        else:
            self._settle(name, taken, offers.review(self._facts(name, taken)))

    def _end_begun(self, name: str, taken: Intake) -> None:
        """End what a killed round had begun, which was told and chosen then."""
        with self._acts.desk.alone():
            begun = self._acts.desk.begun(taken.digest)
            if begun is None or not self._is_there(name, taken.digest):
                return
            _, record, before, wish, stays = begun.after
            what = f"it was answered with {begun.reply}; {'it stays' if stays else 'it is archived'}"
            self._tell(Step("about", f"{name}: end what was begun: {what}", name, {"message_id": begun.reply}))
            try:
                if wish is not None and self._state(taken, record) == before:
                    self._conclude(name, record, wish, begun.reply)
            except (Refused, UsageError):
                # Trying again would not help: whoever decides is asked anew, and knows by this error of the answer.
                self._acts.desk.ended(taken.digest)
                raise
            self._leave(name, taken, stays)

    def _state(self, taken: Intake, record: str) -> str:
        """Return what changes whenever an audit record does; empty where it cannot be read."""
        found = dict(self._acts.records.of_message(str((taken.fields or {}).get("id")))).get(record)
        return "" if found is None else state_digest(found)

    def _conclude(self, name: str, record: str, wish: Wish, reply: str) -> None:
        said = wish._replace(reply_message_id=reply if wish.final_state else None)
        self._acts.conclude(record, said, False)
        self._tell(
            Step("recorded", f"{name}: {wish.final_state or 'checkpoint'}, in {record}", name, {"audit": record})
        )

    def _leave(self, name: str, taken: Intake, stays: str) -> None:
        """Archive a message that was answered, or say why it stays; that is the end of what the answer began."""
        if stays:
            self._keep(name, stays, _STAYS[stays])
            self._acts.desk.ended(taken.digest)
        else:
            self._archive(name, taken)

    def _facts(self, name: str, taken: Intake, record: str = "") -> offers.Facts:
        return offers.Facts(name, taken.digest, taken.fields or {}, self._acts.receiver, record)

    def _task(self, name: str, taken: Intake) -> None:
        """Deal with a message that asks for work."""
        standing = self._standing(taken)
        if standing is not None:
            self._go_on(name, taken, *standing)
            return
        verdict = self._gate(name, taken)
        facts = self._facts(name, taken, verdict.name)
        if verdict.is_replay:
            self._settle(name, taken, offers.closing(facts, "this very message ran before; it is not run again"))
        elif verdict.record.get("decision") == "auto_accepted":
            self._work(name, taken, verdict.name, is_new=True)
        else:
            self._admit(name, taken, verdict)

    def _gate(self, name: str, taken: Intake) -> Verdict:
        self._tell(Step("about", f"evaluate {name} against your policy, on record", name))
        verdict = self._acts.gate(taken)
        codes = verdict.record.get("reason_codes")
        facts = {"decision": verdict.record.get("decision"), "reason_codes": codes, "audit": verdict.name or None}
        words = ", ".join(map(str, codes)) if isinstance(codes, list) else ""
        self._tell(Step("gate", f"{name}: {facts['decision']} ({words})", name, facts))
        return verdict

    def _standing(self, taken: Intake) -> tuple[str, dict[str, object]] | None:
        """Return the record that these very bytes have, where a person or the gates have decided on them."""
        message_id = str((taken.fields or {}).get("id"))
        found = [
            one for one in self._acts.records.of_message(message_id) if one[1].get("message_sha256") == taken.digest
        ]
        for name, record in reversed(found):
            result = part(record, "result")
            state = result.get("final_state")
            outcome = part(result, "human_outcome")
            if state == "done" or (state in LIVE_STATES and (is_admitted(record) or outcome.get("recorded") is True)):
                return name, record
        return None

    def _go_on(self, name: str, taken: Intake, record_name: str, record: dict[str, object]) -> None:
        """Deal with work on which somebody has decided before."""
        facts = self._facts(name, taken, record_name)
        result = part(record, "result")
        if result.get("final_state") == "done":
            self._settle(name, taken, offers.closing(facts, "its work has ended, and it was not archived yet"))
        elif not is_admitted(record) or pause_state(result) == "declined":
            self._settle(name, taken, offers.closing(facts, "it was declined, and was not archived yet"))
        elif pause_state(result) == "waiting":
            checkpoint = part(result, "threshold_checkpoint")
            code = "declaration_error" if checkpoint.get("declaration_errors") else "threshold_checkpoint_breached"
            self._admission(name, taken, record_name, offers.admission(facts, [code], None))
        else:
            self._work(name, taken, record_name, is_new=False)

    def _admit(self, name: str, taken: Intake, verdict: Verdict) -> None:
        codes = verdict.record.get("reason_codes")
        reasons = [str(code) for code in codes] if isinstance(codes, list) else []
        facts = self._facts(name, taken, verdict.name)
        self._admission(name, taken, verdict.name, offers.admission(facts, reasons, verdict.record.get("task_profile")))

    def _admission(self, name: str, taken: Intake, record: str, asked: Inquiry) -> None:
        word = self._put(asked)
        if word is None:
            return
        chosen = asked.choice(word.choice)
        what = {"approve": "approved", "modify": "modified", "decline": "declined"}[chosen.name if chosen else ""]
        with self._acts.desk.alone():
            if not self._is_due(asked):
                return
            self._about(name, asked, word)
            self._acts.decide(record, what, word)
            self._tell(Step("recorded", f"{name}: {what}, in {record}", name, {"decision": what, "audit": record}))
            if what == "declined":
                self._answer(name, taken, word.reply or word.note or "Declined.", After(name))
                self._leave(name, taken, "")
        if what != "declined":
            self._work(name, taken, record, is_new=True)

    def _work(self, name: str, taken: Intake, record: str, *, is_new: bool) -> None:
        self._worked(name, taken, record, offers.work(self._facts(name, taken, record), is_new=is_new))

    def _worked(self, name: str, taken: Intake, record: str, asked: Inquiry) -> None:
        began = self._acts.clock.now()
        word = self._put(asked)
        if word is None:
            return
        with self._acts.desk.alone():
            if self._is_due(asked):
                self._end(name, taken, record, asked, word, began)

    def _end(self, name: str, taken: Intake, record: str, asked: Inquiry, word: Word, began: datetime) -> None:
        """Do what was said about work: tell its sender, record it, and archive what has ended well."""
        chosen = asked.choice(word.choice)
        ends = {"done": "done", "failed": "error"}.get(chosen.name if chosen else "", "")
        wish = self._wish(str((taken.fields or {}).get("id")), record, word, ends, began)
        self._about(name, asked, word)
        # What would not be allowed must be known before the sender is told that it is done.
        rehearsed = self._acts.conclude(record, wish, True)
        if rehearsed.is_breached and ends != "error":
            self._stop(name, taken, record, wish, rehearsed.record)
            return
        kind = offers.reply_of(taken.fields or {})[0] if ends == "done" else "notification"
        stays = {"done": "", "error": "failed"}.get(ends, "in-progress")
        after = self._after(name, taken, record, wish, rehearsed.record, stays)
        reply = self._answer(name, taken, word.reply, after, kind)
        self._conclude(name, record, wish, reply)
        self._leave(name, taken, stays)

    def _after(
        self, name: str, taken: Intake, record: str, wish: Wish, rehearsed: Mapping[str, object], stays: str
    ) -> After:
        """Return what follows an answer about work, such that it says the same whenever it is written."""
        result = part(rehearsed, "result")
        minutes = result.get("actual_minutes")
        ended = result.get("completed_at_utc") if wish.final_state else None
        fixed = wish._replace(actual_minutes=minutes if isinstance(minutes, int) else None, completed_at=ended)
        return After(name, record, self._state(taken, record), fixed, stays)

    def _wish(self, message_id: str, record: str, word: Word, ends: str, began: datetime) -> Wish:
        known = dict(self._acts.records.of_message(message_id))
        stamped = part(known.get(record, {}), "result").get("work_started_at_utc")
        started = None if stamped else (word.started or show_instant(began))
        return Wish(
            final_state=ends,
            actual_minutes=word.minutes,
            actual_files_touched=word.files if word.files is not None else 0,
            realized=word.realized,
            started_at=started,
            artifacts=word.artifacts,
        )

    def _stop(self, name: str, taken: Intake, record: str, wish: Wish, rehearsed: Mapping[str, object]) -> None:
        """Tell its sender that the work went beyond what was declared, and record it; the message stays."""
        checkpoint = part(part(rehearsed, "result"), "threshold_checkpoint")
        fields = checkpoint.get("breached_fields")
        named = [str(one) for one in fields] if isinstance(fields, list) else []
        envelope = part(rehearsed, "scope_envelope")
        first = named[0] if named else "the work"
        expected = {"actual_files_touched": ("files_touched", "expected_files_touched")}
        label, key = expected.get(first, (first, "estimated_minutes" if first == "actual_minutes" else ""))
        told = f"{label} expected {envelope.get(key)}, now {checkpoint.get(first)}" if key else label
        text = f"Blocked: autonomy threshold exceeded - {told}"
        self._tell(Step("problem", f"{name}: {text}", name, {"breached_fields": named, "audit": record}))
        self._answer(name, taken, text, self._after(name, taken, record, wish, rehearsed, "awaiting-approval"))
        self._acts.conclude(record, wish, False)
        self._leave(name, taken, "awaiting-approval")

    def _granted(self, name: str, taken: Intake) -> None:
        """Deal with a step of a review that a person's earlier grant may let run."""
        standing = self._standing(taken)
        if standing is not None and is_admitted(standing[1]):
            self._go_on(name, taken, *standing)
            return
        verdict = self._gate(name, taken)
        facts = self._facts(name, taken, verdict.name)
        if verdict.record.get("decision") == "auto_accepted":
            scope = part(verdict.record, "continuation_grant").get("scope")
            self._worked(name, taken, verdict.name, offers.granted_review(facts, scope))
            return
        codes = verdict.record.get("reason_codes")
        reasons = [str(code) for code in codes] if isinstance(codes, list) else []
        self._settle(name, taken, offers.review(facts, reasons))

    def _settle(self, name: str, taken: Intake, asked: Inquiry) -> None:
        """Ask about a message that leaves with one answer, or none."""
        word = self._put(asked)
        if word is None:
            return
        chosen = asked.choice(word.choice)
        with self._acts.desk.alone():
            if self._is_due(asked):
                self._about(name, asked, word)
                if chosen and chosen.name in ("receipt", "reply"):
                    self._answer(name, taken, word.reply or _NO_REPLY, After(name))
                self._leave(name, taken, "")

    def _put(self, asked: Inquiry) -> Word | None:
        """Ask; ``None`` where the message is to stay, which is told."""
        word = self._ask(asked)
        if word is None or word.choice == SKIP:
            waits = asked.stage in ("admission", "review")
            self._keep(
                asked.file,
                "awaiting-approval" if waits else "left",
                "nobody has decided" if word is None else "left as it is",
            )
            return None
        chosen = asked.choice(word.choice)
        if chosen is None:
            self._keep(asked.file, "left", f"{one_line(word.choice, _SHOWN)!r} is none of {', '.join(asked.allowed)}")
            return None
        said = {"reply": word.reply.strip(), "note": word.note.strip(), "files": word.files}
        missing = [one for one in chosen.needs if said[one] in ("", None)]
        if missing:
            self._keep(asked.file, "left", f"choice {chosen.key} needs {' and '.join(missing)}")
            return None
        return word

    def _is_due(self, asked: Inquiry) -> bool:
        """Tell whether what was decided on is still there: whoever decides takes time, and others act meanwhile."""
        name = asked.file
        if not self._is_there(name, asked.digest):
            return False
        if (begun := self._acts.desk.begun(asked.digest)) is not None:
            self._keep(
                name, "failed", f"another round answered it with {begun.reply} and was stopped; nothing was done"
            )
            return False
        return True

    def _is_there(self, name: str, digest: str, taken: Intake | None = None) -> bool:
        if (taken or self._acts.read(name)).digest == digest:
            return True
        if name in self._acts.desk.waiting():
            self._keep(name, "failed", "RETAINED: digest drift: it changed meanwhile; nothing was done about it")
        else:
            self._tell(Step("problem", f"{name} went meanwhile; nothing was done about it", name))
        return False

    def _about(self, name: str, asked: Inquiry, word: Word) -> None:
        chosen = asked.choice(word.choice)
        effects = chosen.effects if chosen else ()
        self._tell(Step("about", f"{name}: {'; '.join(effects)}", name, {"effects": list(effects)}))

    def _answer(self, name: str, taken: Intake, body: str, after: After, kind: str = "notification") -> str:
        fields = taken.fields or {}
        subject = offers.reply_of(fields)[1] if kind != "notification" else _re(str(fields.get("subject") or ""))
        answer = Answer(str(fields.get("from")), kind, subject, body, str(fields.get("id")))
        sent = self._acts.desk.send(answer, taken.digest, after)
        self._tell(Step("sent", f"{name}: answered with {sent}", name, {"message_id": sent, "to": answer.to}))
        return sent

    def _archive(self, name: str, taken: Intake) -> None:
        done = self._acts.desk.archive(name, taken.digest)
        if not done.is_archived:
            self._keep(name, "failed", f"RETAINED: {done.text}")
            return
        kind = str((taken.fields or {}).get("type"))
        self._handled[kind] = self._handled.get(kind, 0) + 1
        self._tell(Step("archived", f"ARCHIVED: {done.text}", name, {"path": done.text}))
        self._acts.desk.ended(taken.digest)


def _re(subject: str) -> str:
    return (subject if subject.startswith("Re: ") else f"Re: {subject}")[:200]
