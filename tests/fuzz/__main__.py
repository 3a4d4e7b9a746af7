"""Fuzzes every target with atheris for a while, led by coverage: ``python -m tests.fuzz [SECONDS [TARGET...]]``.

Atheris goes into a directory of its own, since not every machine has one that fits. What the environment may say:

* ``RESTANTE_TEST_CACHE``: where to keep it and what it found, instead of ``.cache``;
* ``RESTANTE_TEST_REQUIRE_PROGRAMS``: that it cannot be had is a failure, not a reason to skip.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz.seeds import seeds
from tests.fuzz.targets import TARGETS

_PROJECT = Path(__file__).resolve().parents[2]
_CACHE = Path(os.environ.get("RESTANTE_TEST_CACHE") or _PROJECT / ".cache").resolve()
_LIST = _PROJECT / "requirements" / "fuzz.txt"
_USUAL_SECONDS = 10
_INSTALL_SECONDS = 300
_TOLD = 4_000

_RUN = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import atheris
with atheris.instrument_imports(include=["restante", "yaml"]):
    from tests.fuzz.targets import TARGETS
act = TARGETS[sys.argv.pop(1)]
atheris.Setup(sys.argv, act)
atheris.Fuzz()
"""


def _place() -> Path:
    return _CACHE / f"atheris-python{sys.version_info[0]}.{sys.version_info[1]}"


def _missing() -> str:
    """Install atheris where it is absent; return why that failed, empty where it did not."""
    if (_place() / "atheris").is_dir():
        return ""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    words = ["--require-hashes", "--no-deps", "--target", str(_place()), "-r", str(_LIST)]
    try:
        done = subprocess.run([*pip, *words], capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"pip did not end within {_INSTALL_SECONDS} s"
    return done.stderr.strip() or "pip failed" if done.returncode else ""


def _start(name: str, seconds: int, corpus: str) -> subprocess.Popen[str]:
    for number, raw in enumerate(seeds(name)):
        Path(corpus, f"seed-{number:04}").write_bytes(raw)
    found = _CACHE / "fuzz" / name
    found.mkdir(parents=True, exist_ok=True)
    words = [f"-max_total_time={seconds}", "-timeout=20", "-max_len=16384", "-rss_limit_mb=2048"]
    command = [sys.executable, "-c", _RUN, str(_place()), name, f"-artifact_prefix={found}/", *words, corpus]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=_PROJECT)


def _fuzzed(name: str, seconds: int) -> bool:
    with tempfile.TemporaryDirectory() as corpus:
        process = _start(name, seconds, corpus)
        told = process.communicate()[0]
    last = next((line for line in reversed(told.splitlines()) if line.startswith("Done ")), "")
    if process.returncode or not last:
        print(f"{name}: FAILED\n{told[-_TOLD:]}", file=sys.stderr)
        return False
    print(f"{name}: {last}")
    return True


def main(words: list[str]) -> int:
    """Fuzz; 1 where something misbehaves."""
    seconds = int(words[0]) if words else _USUAL_SECONDS
    if reason := _missing():
        print(f"atheris: NOT AVAILABLE, nothing is fuzzed by coverage: {reason}", file=sys.stderr)
        return 1 if os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS") else 0
    failed = [name for name in words[1:] or TARGETS if not _fuzzed(name, seconds)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
