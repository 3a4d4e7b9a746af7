"""``python -m restante.faces.desktop``: what ``restante desktop`` becomes."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Show the window until the person closes it."""
    from restante.domain.errors import RestanteError
    from restante.faces.desktop.program import run, tell

    code = 0
    try:
        run(dict(os.environ), sys.argv[1] if len(sys.argv) > 1 else "")
    except RestanteError as error:
        tell(f"{error.message}; {error.remedy}" if error.remedy else error.message)
        code = error.exit_code
    # A look that still waits for a server must not keep the process, nor the order in which Qt's parts go matter.
    sys.stdout.flush()
    os._exit(code)


main()
