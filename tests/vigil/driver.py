"""A process that works on monitors, for tests that need real ones: ``python -I driver.py DATA``.

Each line of standard input is an instant (seconds since 1970), an act, a mailbox, and a session; the act is done at
that instant, and its word is one line of standard output.
"""

from __future__ import annotations

import sys
import time
from functools import partial

from restante.domain.errors import RestanteError
from restante.domain.registry import Identity
from restante.vigil import Vigil
from restante.wiring.monitors import MonitorParts


def main() -> None:
    """Do what each line says."""
    parts = MonitorParts({"RESTANTE_DATA": sys.argv[1], "HOME": sys.argv[1]})
    # It does not run below the made-up processes of the sessions.
    parts.is_ours = lambda process: process is not None  # type: ignore[method-assign]
    print("ready", flush=True)
    for line in sys.stdin:
        instant, act, mailbox, session = line.split()
        vigil = Vigil(parts, partial(Identity, "", session.strip("-"), verified=True))
        # Sleeping would wake the two far apart.
        while time.time() < float(instant):
            pass
        try:
            word = str((vigil.arm if act == "arm" else vigil.check)(mailbox).word)
        except RestanteError as error:
            word = error.code
        print(word, flush=True)


if __name__ == "__main__":
    main()
