"""Nothing in the repository tells on which machine, or with which workplace's tools, it was made."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from tests.architecture.source import ROOT

# Put together here, so that this file does not hold what it looks for.
_PLACES = [r"(?<![\w.~-])/" + name + "/" for name in ("work", "root")]
_HOSTS = [
    "index" + r"-url[\s=]+\S+:/",
    "arti" + "factory",
    "jfr" + "og",
    "nexus" + r"\.[a-z]",
    "/api/" + "pypi",
    r"pypi\." + "internal",
]
TELLTALE = re.compile("|".join(_PLACES + _HOSTS), re.IGNORECASE)


def tracked() -> list[str]:
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("NOT TESTED: this is not a git checkout, so nothing says which files belong to it")
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def telling_lines(text: str) -> list[str]:
    home = os.path.expanduser("~")
    own = [str(ROOT) + "/", *([home + "/"] if len(home) > 1 else [])]
    return [
        f"{number}: {line.strip()[:120]}"
        for number, line in enumerate(text.splitlines(), 1)
        if TELLTALE.search(line) or any(place in line for place in own)
    ]


@pytest.mark.parametrize(
    "text", ["cd /" + "work/main", "HOME=/" + "root/x", "--" + "index-url https" + "://host/simple"]
)
def test_a_telling_line_is_found(text: str) -> None:
    assert telling_lines("fine\n" + text) != []


def test_no_tracked_file_names_this_machine_or_a_registry() -> None:
    found = []
    for name in tracked():
        path = ROOT / name
        if path.is_file():
            found += [f"{name}:{line}" for line in telling_lines(path.read_text(encoding="utf-8", errors="replace"))]
    assert found == []
