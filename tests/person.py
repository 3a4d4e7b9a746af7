"""Runs a person's commands, also where an agent program runs the tests.

Below an agent program no command is taken for the person's (``wiring.sessions``). There it is left behind by a process
that ends, so that no program is above it any more.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from restante.system.identity import program_above

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAVE_BEHIND = """
import os, subprocess, sys, time
above = os.getpid()
if os.fork():
    os._exit(0)
while os.getppid() == above:
    time.sleep(0.001)
code = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    file.write(str(code))
"""


def is_below_an_agent() -> bool:
    """Tell whether an agent program runs this process."""
    return program_above(os.environ) is not None


def run(command: Sequence[str], **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a command as ``subprocess.run`` does, by nobody's agent; its output is always captured, as text."""
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "check": False, **more}
    if not is_below_an_agent():
        return subprocess.run(command, **more)
    with tempfile.TemporaryDirectory() as directory:
        told = os.path.join(directory, "code")
        # It is over when its output ends, not when the process does that left it behind.
        done = subprocess.run([sys.executable, "-I", "-c", _LEAVE_BEHIND, told, *command], **more)
        with open(told, encoding="ascii") as file:
            return subprocess.CompletedProcess(command, int(file.read()), done.stdout, done.stderr)
