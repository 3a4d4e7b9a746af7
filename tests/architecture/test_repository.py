"""Nothing in the repository tells on which machine, or with which workplace's tools, it was made."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile

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


def own_places(*places: str) -> re.Pattern[str]:
    """A pattern for paths below some places; what any machine has (``/usr``, what is for a while) tells on none."""
    temporary = os.path.realpath(tempfile.gettempdir())
    telling = [one for one in places if one.count("/") > 1 and not one.startswith(("/tmp/", temporary + "/"))]
    return re.compile(r"(?<![\w.~/-])(?:" + "|".join(map(re.escape, telling)) + ")/" if telling else r"(?!)")


def telling_lines(text: str, own: re.Pattern[str] | None = None) -> list[str]:
    own = own or own_places(str(ROOT), os.path.expanduser("~").rstrip("/"))
    return [
        f"{number}: {line.strip()[:120]}"
        for number, line in enumerate(text.splitlines(), 1)
        if TELLTALE.search(line) or own.search(line)
    ]


@pytest.mark.parametrize(
    "text", ["cd /" + "work/main", "HOME=/" + "root/x", "--" + "index-url https" + "://host/simple"]
)
def test_a_telling_line_is_found(text: str) -> None:
    assert telling_lines("fine\n" + text) != []


def test_a_line_tells_only_of_places_that_are_this_machines_own() -> None:
    own = own_places("/home/ann/restante", "/home/ann", "/usr", "/tmp/clone", "/")
    for line in ("cd /home/ann/restante/src", 'HOME="/home/ann/.config"'):
        assert telling_lines(line, own) == [f"1: {line}"]
    for line in ("#!/usr/bin/env bash", "cd /tmp/clone/src", "see x/home/ann/y", "/home/anna/x", "a / b", "/home/ann"):
        assert telling_lines(line, own) == []


def test_no_tracked_file_names_this_machine_or_a_registry() -> None:
    found = []
    for name in tracked():
        path = ROOT / name
        if path.is_file():
            found += [f"{name}:{line}" for line in telling_lines(path.read_text(encoding="utf-8", errors="replace"))]
    assert found == []
