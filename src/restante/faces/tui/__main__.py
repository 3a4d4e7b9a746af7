"""``python -m restante.faces.tui``: what ``restante tui`` becomes."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Show the screen until the person leaves it."""
    from restante.domain.errors import RestanteError

    try:
        from restante.faces.tui.app import PeopleApp
        from restante.faces.tui.ground import Ground

        ground = Ground(dict(os.environ), os.getcwd())
        ground.check_is_person()
    except RestanteError as error:
        remedy = f"; {error.remedy}" if error.remedy else ""
        print(f"restante: {error.message}{remedy}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
    # The terminal's own way to select text with the mouse stays.
    PeopleApp(ground).run(mouse=False)
    # A look that still waits for a server must not keep the terminal.
    sys.stdout.flush()
    os._exit(0)


main()
