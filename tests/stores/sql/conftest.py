"""What the tests of the SQL home share."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from restante.stores.sql.sqlite import SqliteDatabase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from restante.stores.sql.sqlite import SqliteMailbox
    from restante.testing import FakeClock, SequentialIds

_NOBODY = 65534


def _is_open(directory: str) -> bool:
    """Tell whether anybody may pass through a directory and all above it."""
    while os.stat(directory).st_mode & 0o001:
        if directory == "/":
            return True
        directory = os.path.dirname(directory)
    return False


@pytest.fixture
def path(tmp_path: Path) -> Iterator[str]:
    """Where the database is, in a directory that is not there yet."""
    if os.geteuid():
        yield str(tmp_path / "data" / "restante.db")
        return
    # In some tests root becomes nobody, to whom pytest's directories are closed. Opening them would not do: other
    # runs and workers share them, and each closes them again.
    places = [os.path.realpath(one) for one in (tempfile.gettempdir(), "/tmp", "/var/tmp") if os.path.isdir(one)]
    with tempfile.TemporaryDirectory(prefix="restante-", dir=next(filter(_is_open, places), None)) as place:
        os.chmod(place, 0o711)
        yield os.path.join(place, "data", "restante.db")


@pytest.fixture
def open_database(path: str, clock: FakeClock, ids: SequentialIds) -> Iterator[Callable[..., SqliteDatabase]]:
    """Opens the database as another process would; all are closed in the end."""
    opened: list[SqliteDatabase] = []

    def open_one(at: str = path, **options: object) -> SqliteDatabase:
        options = {"busy_seconds": 5.0, "fs_type": lambda path: "ext4", **options}
        opened.append(SqliteDatabase(at, clock=clock, ids=ids, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def mailbox(open_database: Callable[..., SqliteDatabase]) -> SqliteMailbox:
    """A mailbox that nothing was posted to."""
    return open_database().mailbox("team/reviewer")


@contextmanager
def _read_only(directory: str) -> Iterator[None]:
    """Be someone who may only read a directory; root may write everywhere, so root becomes nobody."""
    is_root = os.geteuid() == 0
    names = [directory, *(os.path.join(directory, name) for name in os.listdir(directory))]
    if is_root and not _is_open(os.path.dirname(directory)):
        pytest.skip(f"NOT TESTED: nobody but root may come to {directory}")
    for name in names:
        if is_root:
            os.chown(name, _NOBODY, _NOBODY)
    os.chmod(directory, 0o500)
    if is_root:
        os.seteuid(_NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        os.chmod(directory, 0o700)


@pytest.fixture
def read_only() -> Callable[[str], object]:
    """A context in which a directory is read-only."""
    return _read_only
