"""The ends of a record: done or failed, called off, replaced.

After OACP 0.5.3, section 6.10 of the specification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.autonomy.bounded import bounded_copy
from restante.autonomy.editing import instant_of
from restante.autonomy.findings import is_successor
from restante.autonomy.instants import parse_instant, show_instant
from restante.autonomy.measuring import Wish, measure
from restante.autonomy.record import runtime_block
from restante.autonomy.record_checks import FINALIZER, is_admitted
from restante.autonomy.vocabulary import LIVE_STATES, PAUSED, TERMINAL_STATES
from restante.domain.errors import Refused, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime


def close(record: Mapping[str, object], result: dict[str, object], wish: Wish, ended: datetime) -> None:
    """Write the end of work that is measured."""
    result |= {"final_state": wish.final_state, "completed_at_utc": show_instant(ended)}
    _sign(record, result, wish)


def _sign(record: Mapping[str, object], result: dict[str, object], wish: Wish) -> None:
    result["finalizer"] = dict(FINALIZER)
    result["runtime"] = dict(wish.runtime or runtime_block(str(record.get("receiver") or "")))
    result["reply_message_id"] = wish.reply_message_id
    result["artifacts"] = list(wish.artifacts)


def cancel(record: Mapping[str, object], result: dict[str, object], wish: Wish, now: datetime) -> None:
    """Write that work was called off.

    Raises:
        UsageError: It is not said who called it off, or work is claimed that never began.
        Refused: Nobody had let the task in.
    """
    if wish.cancelled_by not in ("human", "sender"):
        raise UsageError(f"cancelled_by {wish.cancelled_by!r}: human or sender, whoever called the work off")
    if not is_admitted(record):
        raise Refused("nobody has let this task in, so there is nothing to call off", remedy="record it as declined")
    at = instant_of(wish.cancelled_at, "cancelled_at") or now.replace(microsecond=0)
    began = instant_of(wish.started_at, "started_at")
    if result.get("work_started_at_utc") is None and began is not None:
        result["work_started_at_utc"] = show_instant(began)
    started = parse_instant(result.get("work_started_at_utc"))
    if started is None:
        _nothing_done(result, wish)
    else:
        if wish.actual_files_touched is None and (wish.actuals or {}).get("actual_files_touched") is None:
            before = result.get("actual_files_touched")
            wish = wish._replace(actual_files_touched=before if isinstance(before, int) else 0)
        actuals = measure(result, wish, started=started, end=at, now=now)
        result |= {"actual_minutes": actuals.minutes, "actual_files_touched": actuals.files}
    result |= {"final_state": "cancelled", "completed_at_utc": show_instant(at)}
    _sign(record, result, wish)
    result |= {
        "cancelled_by": wish.cancelled_by,
        "cancelled_at_utc": show_instant(at),
        **({"reason": wish.reason} if wish.reason else {}),
        "deliverables_landed": list(wish.deliverables_landed),
    }
    checkpoint = result.get("threshold_checkpoint")
    if isinstance(checkpoint, dict):
        checkpoint["completed_at_utc"] = show_instant(at)


def _nothing_done(result: dict[str, object], wish: Wish) -> None:
    handed_in = wish.actuals or {}
    said = (wish.actual_minutes, wish.actual_files_touched, *(handed_in.get(key) for key in _COUNTS))
    if any(said) or wish.realized or wish.deliverables_landed:
        raise UsageError("work that never began has done nothing: say when it began")
    result |= dict.fromkeys(_COUNTS, 0)


_COUNTS = ("actual_minutes", "actual_files_touched")


def supersede(
    record: dict[str, object],
    result: dict[str, object],
    wish: Wish,
    siblings: Sequence[Mapping[str, object]],
    now: datetime,
) -> None:
    """Write that another evaluation, or another message, has taken this one's place.

    Raises:
        UsageError: It is not said by what.
        Refused: That one does not name this record, or the record cannot be replaced so.
    """
    if bool(wish.superseded_by) == (wish.superseded_by_message is not None):
        raise UsageError("superseded by what: an evaluation or a message, one of the two")
    if wish.superseded_by_message is not None:
        if record.get("message_type") != "review_request" or record.get("decision") != PAUSED or is_admitted(record):
            raise Refused("only a paused review request that nobody let in is replaced by a message")
        try:
            result["superseded_by_message"] = bounded_copy(dict(wish.superseded_by_message))
        except ValueError as error:
            raise UsageError(f"superseded_by_message: {error}") from None
    else:
        if sum(is_successor(record, one, wish.superseded_by) for one in siblings) != 1:
            raise Refused(f"no single evaluation {wish.superseded_by} of this message names this record")
        record["superseded_by_evaluation_id"] = wish.superseded_by
    close_superseded(result, now)


def close_superseded(result: dict[str, object], now: datetime) -> None:
    """Write into a result that it was replaced; a state that is no state is kept beside it."""
    state = result.get("final_state")
    if state not in LIVE_STATES and state not in TERMINAL_STATES:
        result["legacy_final_state"] = state
    result |= {"final_state": "superseded", "completed_at_utc": show_instant(now)}
