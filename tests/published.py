"""Gets the published OACP program for the differential tests: a fixed version, in a virtual environment of its own.

Run as ``python -m tests.published`` it installs it beforehand. What the environment may say:

* ``RESTANTE_TEST_OACP_CLI``: use this ``oacp`` and install nothing;
* ``RESTANTE_TEST_CACHE``: where to keep it, instead of ``.cache``;
* ``RESTANTE_TEST_REQUIRE_PROGRAMS``: a program that cannot be had is a failure, not a reason to skip.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import venv
from functools import cache
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[1]
_VERSION = "0.5.4"
_WANTED = f"oacp-cli[crypto]=={_VERSION}"
_INSTALL_SECONDS = 300


def _place() -> Path:
    kept = os.environ.get("RESTANTE_TEST_CACHE") or _PROJECT / ".cache"
    return Path(kept).resolve() / f"oacp-cli-{_VERSION}"


@cache
def program() -> str:
    """Return the path of the published ``oacp``, as far as it is here; empty where it is not."""
    named = os.environ.get("RESTANTE_TEST_OACP_CLI")
    if named:
        return named
    found = _place() / "bin" / "oacp"
    return str(found) if _version_of(found) == _VERSION else ""


def _version_of(found: Path) -> str:
    try:
        told = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return told.split()[-1] if told.split() else ""


def reason_to_skip() -> str:
    """Return why tests cannot have it; empty when they can, or must."""
    if os.access(program(), os.X_OK) or os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS"):
        return ""
    return (
        f"NOT TESTED AGAINST THE ORIGINAL: {_WANTED} is not here; `make published` installs it, "
        "RESTANTE_TEST_OACP_CLI names another"
    )


def _install() -> str:
    """Install it, and return why that failed; empty where it did not."""
    place = _place()
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{place}.installing", "w", encoding="utf-8") as lock:
        # Two runs of the tests may share the place.
        fcntl.flock(lock, fcntl.LOCK_EX)
        program.cache_clear()
        if program():
            return ""
        shutil.rmtree(place, ignore_errors=True)
        venv.create(place, with_pip=True)
        pip = [f"{place}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        try:
            done = subprocess.run([*pip, _WANTED], capture_output=True, text=True, timeout=_INSTALL_SECONDS)
        except subprocess.TimeoutExpired:
            return f"pip did not end within {_INSTALL_SECONDS} s"
        program.cache_clear()
        return "" if program() else done.stderr.strip() or "it does not say its version"


def main() -> int:
    """Install it where it is absent and that can be done; say what was found, and fail only where it is required."""
    reason = "" if program() else _install()
    if not reason and os.access(program(), os.X_OK):
        print(f"OACP as published: {program()}")
        return 0
    print(f"OACP as published: NOT AVAILABLE, its differential tests will be skipped: {reason}", file=sys.stderr)
    return 1 if os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS") else 0


if __name__ == "__main__":
    sys.exit(main())
