"""Where a message's file goes when the message has ended: the inbox's archive, or out of sight if it was taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.domain.lifecycle import Status
from restante.domain.receipt import Action
from restante.stores.oacp.archive import Retained, move, obstacle_to, transfer

if TYPE_CHECKING:
    from datetime import datetime

    from restante.stores.oacp.book import Case
    from restante.stores.oacp.room import Room

# Answers after which the file may leave the inbox; after the others work or a word is still to come.
_TERMINAL = (Status.ACCEPTED, Status.REJECTED, Status.APPLIED, Status.NOT_APPLICABLE)


def settle(room: Room, case: Case, now: datetime) -> None:
    """Move a message's file where its end says; what cannot be moved is told as a fault, and tried again."""
    if case.file in room.files and _is_terminal(case, now):
        move_out(room, case)


def obstacle_of(room: Room, case: Case, now: datetime) -> str:
    """Return why a file cannot leave the inbox; that it could, and nobody has moved it yet, is nothing."""
    is_due = case.file in room.files and _is_terminal(case, now)
    return obstacle_to(room.inbox, case.file, case.sha256) if is_due else ""


def move_out(room: Room, case: Case) -> bool:
    """Move a file out of the inbox; return whether it is out."""
    if case.file not in room.files:
        return True
    if not case.marks.is_withdrawn:
        outcome = move(room.inbox, case.file, case.sha256)
    else:
        try:
            with room.make_withdrawn() as place:
                outcome = transfer(room.inbox, place, case.file, case.sha256)
        except (OSError, RestanteError):
            return False
    if isinstance(outcome, Retained):
        return False
    del room.files[case.file]
    return True


def _is_terminal(case: Case, now: datetime) -> bool:
    if case.marks.is_withdrawn:
        return True
    return case.standing(now).status in _TERMINAL and case.merged.action is not Action.PENDING
