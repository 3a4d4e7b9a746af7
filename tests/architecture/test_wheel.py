"""What is published works: the wheel, built from the source distribution, in an environment that holds nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest
from tests.architecture.source import PACKAGE, ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


def run(*command: str | Path, at: Path, data: str = "", **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=at,
        input=data,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", place, at=ROOT)
    (source,) = place.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "Makefile", "scripts/restante-hook", "tests/conftest.py"} <= inside
    run(*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", place, source, at=place)
    (built,) = place.glob("*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_package_and_both_launchers(wheel: Path) -> None:
    wanted = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "restante/stores/sql/schema.sql" in wanted
    assert "restante/py.typed" in wanted
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (scripts,) = {name.partition("/scripts/")[0] for name in names if "/scripts/" in name}
        for name in ("restante", "restante-hook", "restante-waiter"):
            assert archive.read(f"{scripts}/scripts/{name}") == (ROOT / "scripts" / name).read_bytes()
    assert {name for name in names if name.startswith("restante/")} == wanted


def test_the_installed_wheel_leaves_a_message_and_hands_it_over(wheel: Path, tmp_path: Path) -> None:
    venv, repository, home = tmp_path / "venv", tmp_path / "repo", tmp_path / "home"
    home.mkdir()
    run(sys.executable, "-m", "venv", "--without-pip", venv, at=tmp_path)
    run(*PIP, "--python", venv / "bin" / "python", "install", "--no-deps", "--no-index", wheel, at=tmp_path)
    run("git", "init", "-q", repository, at=tmp_path)
    restante = venv / "bin" / "restante"
    own = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "nowhere")}
    version = wheel.name.split("-")[1]
    assert version in run(restante, "--version", at=repository, **own)
    run(restante, "install", at=repository, **own)
    sent = json.loads(run(restante, "send", "--json", "Mind the tests.", at=repository, **own))["message"]["id"]
    entries = json.loads((repository / ".claude" / "settings.local.json").read_text())["hooks"]["PostToolUse"]
    line = entries[0]["hooks"][0]["command"]
    assert str(venv / "bin") in line
    assert os.access(venv / "bin" / "restante-hook", os.R_OK)
    payload = json.dumps({"session_id": "one", "cwd": str(repository), "hook_event_name": "PostToolUse"})
    assert "Mind the tests." in run("sh", "-c", line, at=repository, data=payload, **own)
    run(restante, "ack", sent, "--decision", "accepted", "-m", "yes", at=repository, **own)
    assert "accepted" in run(restante, "status", sent, at=repository, **own)
