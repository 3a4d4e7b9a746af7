"""A verdict: whether work may start, and everything that was found on the way to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.hard_stops import Scan
from restante.autonomy.vocabulary import ALWAYS_PAUSE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.autonomy.axes import Axes
    from restante.autonomy.strict import StrictHit
    from restante.autonomy.threads import Resolution


class Verdict(NamedTuple):
    """What the gates say about one message.

    Attributes:
        is_accepted: Whether work may start without a person.
        codes: The reasons, as records list them.
        mode: The mode in force.
        breached: What was exceeded: codes, or field paths.
        kind: ``completion_kind`` of the record.
        profile: The declared profile, in full.
        declared: The profile as it was written.
        envelope: What the work may amount to.
        source: Where the envelope comes from.
        axes: The ledger of gate 2; None where nothing was declared.
        scan: What gate 3 found in the body.
        strict: What our own hard stops found; None where they are off.
        grant: What became of a grant for the thread; None where it was never looked at.
        notes: What is logged: code and label.
        warnings: What is wrong with the pauses that the sender expects.
        expected_pauses: The codes that the sender expects to be held for; None where it does not say.
        pattern: Label of the hit that decided.
        errors: What is wrong with the message itself.
    """

    is_accepted: bool
    codes: tuple[str, ...]
    mode: str = ALWAYS_PAUSE
    breached: tuple[str, ...] = ()
    kind: str = "admission_paused"
    profile: Mapping[str, object] | None = None
    declared: Mapping[str, object] | None = None
    envelope: Mapping[str, object] | None = None
    source: str | None = None
    axes: Axes | None = None
    scan: Scan = Scan()
    strict: tuple[StrictHit, ...] | None = None
    grant: Resolution | None = None
    notes: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    expected_pauses: tuple[str, ...] | None = None
    pattern: str = ""
    errors: tuple[str, ...] = ()

    @property
    def co_occurring(self) -> list[str]:
        """What else held and is not among the reasons, sorted."""
        held = set(self.axes.held if self.axes else ())
        held |= {hit.code for hit in self.strict or ()}
        return sorted(held - set(self.codes))

    def paused(self, *codes: str, breached: tuple[str, ...] | None = None) -> Verdict:
        """Return the same findings with a pause for these reasons."""
        kept = codes if breached is None else breached
        return self._replace(is_accepted=False, codes=codes, breached=kept)


def classify_pause(verdict: Verdict) -> dict[str, object]:
    """Return how a pause compares with what the sender expected; nothing where there is no pause."""
    if verdict.is_accepted:
        return {}
    declared = verdict.expected_pauses
    expected = [code for code in verdict.codes if code in (declared or ())]
    unplanned = [code for code in verdict.codes if code not in expected]
    word = "designed" if not unplanned else "mixed" if expected else "unplanned"
    if declared is None:
        word = "undeclared"
    return {"pause_classification": word, "expected_pause_codes": expected, "unplanned_pause_codes": unplanned}
