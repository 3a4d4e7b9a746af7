"""A directory for what is nobody else's is not another user's."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from restante.domain.errors import Unsafe
from restante.system.private import make_private

_NOBODY, _SOMEBODY = 65_534, 12_345

ACT = f"""
import os, sys
from restante.domain.errors import RestanteError
from restante.system import private
os.setuid({_NOBODY})
for one in sys.argv[1:]:
    try:
        private.make_private(one)
        print("made")
    except RestanteError as error:
        print(type(error).__name__)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_directory_that_another_user_made_is_refused_with_what_is_below_it() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        top = Path(place)
        top.chmod(0o755)
        places = []
        for name, owner in (("mine", _NOBODY), ("theirs", _SOMEBODY), ("roots", 0)):
            (top / name).mkdir()
            (top / name).chmod(0o777)
            os.chown(top / name, owner, owner)
            places.append(str(top / name))
        done = subprocess.run([sys.executable, "-c", ACT, *places], capture_output=True, text=True, timeout=60)
        assert done.stdout.split() == ["made", "Unsafe", "made"], done.stderr


def test_a_link_in_a_directorys_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(Unsafe, match="symbolic link"):
        make_private(str(tmp_path / "link"))
    make_private(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
