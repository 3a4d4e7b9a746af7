"""A server in a process of its own, as ``restante serve`` makes it, for the data directory of the environment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVE = [sys.executable, "-I", "-m", "restante", "serve", "--port", "0"]


@contextmanager
def served(**environment: str) -> Iterator[str]:
    """Run a server in the block and return where it answers."""
    told = Path(os.environ["RESTANTE_DATA"]) / "server.json"
    variables = {name: value for name, value in os.environ.items() if name != "CODEX_THREAD_ID"}
    with subprocess.Popen(
        SERVE, env={**variables, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stderr
            for line in server.stderr:
                if "listening" in line:
                    break
            yield str(json.loads(told.read_text())["url"])
        finally:
            server.send_signal(signal.SIGTERM)
            _, rest = server.communicate(timeout=20)
    assert server.returncode == 0, rest
