"""Gets the real agent programs for the end-to-end tests: npm packages, in fixed versions, into a cache of the project.

Run as ``python -m tests.e2e.programs`` it fetches them beforehand. What the environment may say:

* ``RESTANTE_TEST_CODEX``, ``RESTANTE_TEST_CLAUDE``, ``RESTANTE_TEST_OPENCODE``, ``RESTANTE_TEST_GEMINI``: use this
  program and fetch nothing;
* ``RESTANTE_TEST_CACHE``: where to keep them, instead of ``.cache/agent-programs``;
* ``RESTANTE_TEST_REQUIRE_PROGRAMS``: a program that cannot be had is a failure, not a reason to skip.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROJECT = Path(__file__).resolve().parents[2]
_FETCH_SECONDS = 600
_ATTEMPTS = 3


class Unavailable(Exception):
    """A program cannot be had here; the text says why."""


@dataclass(frozen=True, slots=True)
class Program:
    """An agent program as npm delivers it.

    Attributes:
        name: What we call it.
        package: Its npm package.
        version: The version the tests were written against.
        binaries: Where its packages keep what is run, below ``node_modules``.
    """

    name: str
    package: str
    version: str
    binaries: tuple[str, ...]

    @property
    def variable(self) -> str:
        """The environment variable that names another binary."""
        return f"RESTANTE_TEST_{self.name.upper()}"

    @property
    def prefix(self) -> Path:
        """Where npm installs it."""
        cache = os.environ.get("RESTANTE_TEST_CACHE") or _PROJECT / ".cache" / "agent-programs"
        return Path(cache).resolve() / f"{self.name}-{self.version}"


PROGRAMS = {
    "codex": Program("codex", "@openai/codex", "0.171.0", ("@openai/codex-*/vendor/*/bin/codex",)),
    "claude": Program("claude", "@anthropic-ai/claude-code", "2.1.332", ("@anthropic-ai/claude-code-*/claude",)),
    "opencode": Program("opencode", "opencode-ai", "1.18.33", ("opencode-*/bin/opencode",)),
    "gemini": Program("gemini", "@google/gemini-cli", "0.61.0", (".bin/gemini",)),
}


def present(name: str) -> str | None:
    """Return the path of a program that is here already; fetch nothing."""
    program = PROGRAMS[name]
    named = os.environ.get(program.variable)
    if named:
        return named
    found = (path for pattern in program.binaries for path in sorted((program.prefix / "node_modules").glob(pattern)))
    return next((str(path) for path in found if _runs(path)), None)


def get(name: str) -> str:
    """Return the path of a program, after fetching it if need be.

    Raises:
        Unavailable: It cannot be had.
    """
    program = PROGRAMS[name]
    named = os.environ.get(program.variable)
    if named and not os.access(named, os.X_OK):
        raise Unavailable(f"{program.variable} names {named!r}, which cannot be run")
    found = present(name)
    if found:
        return found
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable(
            f"npm is not installed, so {program.package} cannot be fetched; {program.variable} may name it"
        )
    with _alone(program.prefix):
        return present(name) or _fetch(program, npm)


def _fetch(program: Program, npm: str) -> str:
    wanted = f"{program.package}@{program.version}"
    print(f"fetching {wanted} into {program.prefix}", file=sys.stderr, flush=True)
    flags = ("--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error")
    reason = ""
    for _ in range(_ATTEMPTS):
        try:
            done = subprocess.run(
                [npm, "install", "--prefix", program.prefix, *flags, wanted],
                capture_output=True,
                text=True,
                timeout=_FETCH_SECONDS,
                check=False,
            )
            reason = done.stderr.strip()
        except subprocess.TimeoutExpired:
            reason = f"npm did not end within {_FETCH_SECONDS} s"
        found = present(program.name)
        if found:
            return found
    raise Unavailable(f"npm could not install {wanted}: {reason or 'it brings no binary for this platform'}")


def _runs(path: Path) -> bool:
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


@contextmanager
def _alone(prefix: Path) -> Iterator[None]:
    """Hold off other test processes that want the same program."""
    prefix.mkdir(parents=True, exist_ok=True)
    with open(prefix / ".fetching", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Fetch all programs, say where they are, and fail only where they are required."""
    missing = 0
    for name in PROGRAMS:
        try:
            print(f"{name}: {get(name)}")
        except Unavailable as error:
            missing += 1
            print(f"{name}: NOT AVAILABLE, its end-to-end tests will be skipped: {error}", file=sys.stderr)
    return 1 if missing and os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS") else 0


if __name__ == "__main__":
    sys.exit(main())
