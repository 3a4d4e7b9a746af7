"""``python -m restante.faces.http``: what ``restante serve`` becomes."""

from __future__ import annotations

import os
import sys

from restante.faces.http.serve import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
