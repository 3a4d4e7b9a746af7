"""How what happens in a mailbox is printed while one watches, and the cursor to go on with."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from restante.domain.errors import UsageError
from restante.faces.cli.output import say, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from restante.domain.mailbox import Changes

# How the empty cursor is written on a command line.
_BEGINNING = "start"


def tell_changes(
    begin: Callable[[str | None], tuple[str, Iterable[tuple[str, Changes]]]],
    since: str | None,
    again: str,
    *,
    as_json: bool,
) -> int:
    """Print a line for each thing that happens, and the cursor to go on with.

    Args:
        begin: Given a cursor (empty for the beginning, ``None`` for now), returns where that is and what happens from
            there on, with the role in whose mailbox it does; no role for the mailbox that is followed.
        since: The cursor as it was typed.
        again: The command that goes on.
        as_json: Print objects, each with its cursor.

    Returns:
        0 when anything came, 5 when the time was over.
    """
    from restante.faces.cli.jsonable import of_change, print_json
    from restante.faces.cli.render import change_line

    came, cursor = False, since or ""
    try:
        cursor, batches = begin("" if since == _BEGINNING else since)
        for role, batch in batches:
            for change in batch.changes:
                came = True
                if as_json:
                    # Whoever stops reading within a batch and goes on with the last cursor read must miss nothing.
                    reached = batch.cursor if change is batch.changes[-1] else cursor
                    print_json({**of_change(change), "cursor": reached or _BEGINNING})
                else:
                    say(f"{role}: {change_line(change)}" if role else change_line(change))
            cursor = batch.cursor
            sys.stdout.flush()
    except KeyboardInterrupt:
        came = True
    except UsageError as error:
        raise UsageError(error.message, remedy="--since start, or the cursor that a watch ended with") from None
    if as_json:
        print_json({"event": "end", "cursor": cursor or _BEGINNING})
    else:
        tell(f"go on with: {again} --since {cursor or _BEGINNING}")
    return 0 if came else 5
