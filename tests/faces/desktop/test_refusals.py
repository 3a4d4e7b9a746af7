"""Who gets no window, and is told why before anything starts."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.faces.desktop.conftest import PROGRAM

from restante.domain.errors import Refused
from restante.faces.desktop.program import check_screen

if TYPE_CHECKING:
    from pathlib import Path


def start(place: Path, program: str = PROGRAM[-1], **more: str) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(place), "PATH": os.environ["PATH"], "RESTANTE_DATA": str(place / "data"), **more}
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, "desktop"], env=environment, capture_output=True, text=True, cwd=place
    )
    assert not (place / "data").exists()
    return done


def test_an_agent_is_refused(tmp_path: Path) -> None:
    done = start(tmp_path, CODEX_THREAD_ID="0199aaaa-0000-7000-8000-00000000000a")
    assert done.returncode == 4
    assert "the window is for the person" in done.stderr


def test_parts_that_are_not_installed_are_asked_for_by_name(tmp_path: Path) -> None:
    done = start(tmp_path, f"import sys; sys.modules['PySide6'] = None; {PROGRAM[-1]}")
    assert done.returncode == 4
    assert "pip install 'restante[desktop]'" in done.stderr


@pytest.mark.skipif(sys.platform == "darwin", reason="there every person has a screen")
def test_without_a_screen_nothing_is_started() -> None:
    with pytest.raises(Refused, match="neither DISPLAY nor WAYLAND_DISPLAY") as caught:
        check_screen({"DISPLAY": "", "HOME": "/home/ann"})
    assert "restante tui" in caught.value.remedy


def test_the_administrator_is_told_that_the_browser_has_no_sandbox() -> None:
    environment = {"DISPLAY": ":0"}
    if os.geteuid():
        check_screen(environment)
        return
    with pytest.raises(Refused, match="administrator"):
        check_screen(environment)
    check_screen(environment | {"QTWEBENGINE_CHROMIUM_FLAGS": "--no-sandbox"})


def test_no_other_command_loads_anything_of_it() -> None:
    words = (
        "import sys; sys.argv = ['restante', 'ui', '--help']; from restante.faces.cli import dispatch;"
        "import restante.faces.cli.paging; dispatch(['ui', '--help']);"
        "found = [one for one in sys.modules if one.startswith(('PySide6', 'restante.faces.desktop', 'subprocess'))];"
        "sys.exit(','.join(found))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
