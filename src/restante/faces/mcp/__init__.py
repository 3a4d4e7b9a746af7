"""MCP: six tools for models, and mail as resources.

``restante mcp`` is what a program starts for itself: a few methods over standard input and output, on the standard
library alone, so that it is there at the program's first request. ``served`` puts the same tools on a running server,
with the official SDK. Both ask ``acts``; neither is known to the other.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(words: Sequence[str] = ()) -> None:
    """Serve on standard input and output until the program ends them, and end the process.

    Args:
        words: What stood behind ``restante mcp``; nothing is taken.
    """
    import os

    if words:
        sys.stderr.write(f"restante: restante mcp takes no {words[0]!r}\n  restante help mcp\n")
        os._exit(2)
    from restante.faces.mcp.stdio import serve

    serve(sys.stdin.buffer, sys.stdout.buffer, os.environ)
    # Whoever still waits in a thread waits for a program that is gone.
    os._exit(0)
