"""When a message is evaluated again: is it the same evaluation, and what becomes of the earlier ones?

After OACP 0.5.3, the persist transaction of section 6.8 of the specification. Pure: locking and writing are the
store's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.editing import arrange, editable
from restante.autonomy.terminal import close_superseded
from restante.autonomy.vocabulary import LIVE_STATES
from restante.autonomy.workclock import part

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class Succession(NamedTuple):
    """What is to be written for a new evaluation.

    Attributes:
        adopted: Name of the record that says the same already; nothing is written then. Empty otherwise.
        record: The new record, naming those it replaces.
        closed: The replaced records by name, changed.
    """

    adopted: str
    record: dict[str, object]
    closed: dict[str, dict[str, object]]


def succeed(
    decision: Mapping[str, object], earlier: Mapping[str, Mapping[str, object]], *, now: datetime
) -> Succession:
    """Return what a new evaluation makes of the earlier ones of the same receiver and message.

    Args:
        decision: The new record.
        earlier: The earlier records by name.
        now: The instant, stamped into those that are replaced.

    Raises:
        Damaged: An earlier record cannot be used.
    """
    live = {name: one for name, one in earlier.items() if part(one, "result").get("final_state") in LIVE_STATES}
    for name, one in live.items():
        if all(one.get(key) == decision.get(key) for key in ("message_sha256", "policy_sha256", "decision")):
            return Succession(name, dict(one), {})
    record = dict(decision)
    names = [str(one["evaluation_id"]) for one in live.values() if one.get("evaluation_id")]
    if names:
        record["supersedes_evaluation_id"] = names[-1]
    if len(names) > 1:
        record["superseded_evaluation_ids"] = names
    closed = {}
    for name, one in live.items():
        copy, result = editable(one)
        copy["superseded_by_evaluation_id"] = record.get("evaluation_id")
        close_superseded(result, now)
        arrange(result)
        closed[name] = copy
    return Succession("", record, closed)
