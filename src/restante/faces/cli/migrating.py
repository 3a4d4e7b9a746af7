"""``restante migrate``."""

from __future__ import annotations

import os

from restante.domain.text import counted, visible
from restante.faces.cli.output import say, tell


def migrate(source: str, target: str, as_json: bool, **_common: object) -> None:
    """Copy all sessions and their mail from one place to another, and compare both."""
    from restante.wiring.migrating import migrate_places, place_of

    places = place_of(source, os.environ), place_of(target, os.environ)
    moved = migrate_places(*places, os.environ, report=lambda line: tell(visible(line)))
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json(moved._asdict())
        return
    say(
        f"the same on both sides: {counted(moved.sessions, 'session')}, "
        f"{counted(moved.mailboxes, 'mailbox', 'mailboxes')} ({moved.already} of them there before), "
        f"{counted(moved.messages, 'message')}, {counted(moved.rows, 'row')}; sha256 {moved.digest}"
    )
    tell("the source stays as it was; to use the target, set database.url or RESTANTE_DATA")
