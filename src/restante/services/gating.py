"""May work on a message start without a person? The answer is written down before anybody learns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.evaluate import Evaluation, evaluate
from restante.autonomy.policy import parse_policy
from restante.domain.errors import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from restante.domain.intake import Intake
    from restante.ports.intake import AuditBook
    from restante.ports.receiving import PolicyText

    Load = Callable[[str], object]


class Gated(NamedTuple):
    """The answer of the gates.

    Attributes:
        record: The audit record that counts.
        annotation: The verdict and its reasons as one line.
        name: The record's file; empty where nothing was written.
        is_replay: Whether the message was accepted before.
    """

    record: dict[str, object]
    annotation: str
    name: str = ""
    is_replay: bool = False

    @property
    def is_accepted(self) -> bool:
        """Whether work may start without a person."""
        return self.record.get("decision") == "auto_accepted"

    @property
    def reasons(self) -> list[str]:
        """The reason codes."""
        codes = self.record.get("reason_codes")
        return [str(code) for code in codes] if isinstance(codes, list) else []


def gate(
    taken: Intake,
    policy: PolicyText,
    book: AuditBook | None,
    *,
    now: datetime,
    receiver: str,
    load: Load,
    runtime: Mapping[str, object] | None = None,
    actuals: object = None,
) -> Gated:
    """Evaluate a message that was read.

    Args:
        taken: The message.
        policy: The receiver's policy.
        book: Where the record is written; ``None`` to write none, and then nothing of earlier ones is known.
        now: The time.
        receiver: Who evaluates.
        load: Reads YAML.
        runtime: Which program and model evaluates.
        actuals: Measurements of work under way, for a checkpoint.

    Raises:
        Unreadable: The message could not be read.
        BadConfig: The measurements are malformed.
        RestanteError: The record could not be written; the message counts as not evaluated.
    """
    if taken.fields is None:
        raise Unreadable(taken.error or f"{taken.path} was not read")
    fields, rules = taken.fields, parse_policy(policy.config)
    last: list[Evaluation] = []

    def judge(history: Sequence[Mapping[str, object]]) -> dict[str, object]:
        last.append(
            evaluate(
                fields,
                taken.digest,
                rules,
                history,
                now=now,
                receiver=receiver,
                load=load,
                actuals=actuals,
                policy_auth=policy.auth,
                validation_errors=taken.gate_errors,
                runtime=runtime,
                message_path=taken.path,
                policy_path=policy.path,
            )
        )
        return last[-1].decision

    if book is None:
        return Gated(judge(()), last[-1].annotation)
    auth = None if taken.verified is None else taken.verified.auth
    admission = book.admit(fields, judge, now=now, payload_digest=taken.payload_digest, auth=auth)
    return Gated(admission.record, last[-1].annotation, admission.name, admission.is_replay)
