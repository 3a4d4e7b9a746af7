"""Archiving: the same bytes under the same name, or a reason and nothing changed."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.oacp import names_in, send

from restante.domain.errors import UsageError
from restante.stores.oacp.archive import Archived, Retained, archive, archive_message
from restante.stores.oacp.index import list_inbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.stores.oacp.layout import Tree


def _state(place: str) -> dict[str, tuple[int, bytes | str]]:
    found: dict[str, tuple[int, bytes | str]] = {}
    for directory, _, names in os.walk(place):
        for name in names:
            path = os.path.join(directory, name)
            status = os.lstat(path)
            content: bytes | str = os.readlink(path) if os.path.islink(path) else Path(path).read_bytes()
            found[path] = (status.st_ino, content)
    return found


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _make_archive_a_link(path: str, shelf: str) -> None:
    os.rmdir(shelf)
    os.symlink(os.path.dirname(path), shelf)


def _make_archive_a_file(path: str, shelf: str) -> None:
    os.rmdir(shelf)
    os.rename(path, shelf)


def _make_source_a_link(path: str, shelf: str) -> None:
    os.rename(path, f"{path}.real")
    os.symlink(f"{path}.real", path)


def _change_source(path: str, shelf: str) -> None:
    with open(path, "ab") as file:
        file.write(b"\n")


def _put_other_there(path: str, shelf: str) -> None:
    with open(os.path.join(shelf, os.path.basename(path)), "xb") as file:
        file.write(b"history")


def _put_same_bytes_there(path: str, shelf: str) -> None:
    with open(path, "rb") as source, open(os.path.join(shelf, os.path.basename(path)), "xb") as file:
        file.write(source.read())


def _put_dangling_link_there(path: str, shelf: str) -> None:
    os.symlink("nowhere", os.path.join(shelf, os.path.basename(path)))


def _make_source_a_fifo(path: str, shelf: str) -> None:
    os.unlink(path)
    os.mkfifo(path)


def _grow(path: str, shelf: str) -> None:
    with open(path, "ab") as file:
        file.write(b"#" * 1_100_000)


def test_a_message_moves_with_name_and_bytes(tree: Tree) -> None:
    path = send(tree, "bob").inboxes[0]
    before = os.stat(path)
    outcome = archive(path, _digest(path).upper())
    assert outcome == Archived(os.path.join(os.path.dirname(path), "archive", os.path.basename(path)))
    after = os.stat(outcome.path)
    assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (before.st_ino, before.st_mtime_ns, before.st_mode)
    assert names_in(tree, "bob") == set()


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda _, shelf: os.rmdir(shelf), "archive/ is missing"),
        (_make_archive_a_link, "symbolic link"),
        (_make_archive_a_file, "archive/"),
        (lambda path, _: os.unlink(path), "source missing"),
        (_make_source_a_link, "not a regular file"),
        (_make_source_a_fifo, "not a regular file"),
        (_change_source, "digest drift"),
        (_grow, "digest drift"),
        (_put_other_there, "destination exists"),
        (_put_same_bytes_there, "destination exists"),
        (_put_dangling_link_there, "destination exists"),
    ],
)
def test_every_failed_precondition_is_a_reason_and_changes_nothing(
    tree: Tree, spoil: Callable[[str, str], object], reason: str
) -> None:
    path = send(tree, "bob").inboxes[0]
    wanted = _digest(path)
    spoil(path, os.path.join(os.path.dirname(path), "archive"))
    fifo = not os.path.isfile(path) and os.path.exists(path)
    before = None if fifo else _state(tree.home)
    outcome = archive(path, wanted)
    assert isinstance(outcome, Retained)
    assert reason in outcome.reason
    assert before is None or _state(tree.home) == before


@pytest.mark.parametrize("name", ["../x.yaml", "archive/x.yaml", ".hidden.yaml", "x.txt", ""])
def test_what_is_no_message_file_is_retained(tree: Tree, name: str) -> None:
    assert isinstance(archive_message(tree, "demo", "bob", name, "0" * 64), Retained)


def test_a_path_outside_of_an_inbox_is_a_usage_error(tree: Tree) -> None:
    sent = send(tree, "bob")
    with pytest.raises(UsageError):
        archive(sent.outbox, _digest(sent.outbox))


def test_an_unknown_agent_is_a_reason_too(tree: Tree) -> None:
    assert isinstance(archive_message(tree, "demo", "nobody", "x.yaml", "0" * 64), Retained)


def test_what_a_killed_archiver_left_counts_as_archived_and_is_finished(tree: Tree) -> None:
    path = send(tree, "bob").inboxes[0]
    name, wanted = os.path.basename(path), _digest(path)
    os.link(path, os.path.join(os.path.dirname(path), "archive", name))
    assert list_inbox(tree, "demo", "bob") == []
    assert isinstance(archive(path, wanted), Archived)
    assert (names_in(tree, "bob"), names_in(tree, "bob", "inbox/archive")) == (set(), {name})


# Where a file cannot have two names.


@pytest.fixture(params=[errno.EPERM, errno.ENOTSUP])
def without_links(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A filesystem without hard links, or another user's file on a system that lets nobody link those."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(os, "link", refuse)


@pytest.mark.usefixtures("without_links")
def test_without_hard_links_a_message_moves_all_the_same(tree: Tree) -> None:
    path = send(tree, "bob").inboxes[0]
    before = os.stat(path)
    outcome = archive(path, _digest(path))
    assert isinstance(outcome, Archived)
    after = os.stat(outcome.path)
    assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (before.st_ino, before.st_mtime_ns, before.st_mode)
    assert names_in(tree, "bob") == set()


@pytest.mark.usefixtures("without_links")
@pytest.mark.parametrize("spoil", [_put_other_there, _put_same_bytes_there, _put_dangling_link_there, _change_source])
def test_without_hard_links_no_history_is_replaced_either(tree: Tree, spoil: Callable[[str, str], object]) -> None:
    path = send(tree, "bob").inboxes[0]
    wanted = _digest(path)
    spoil(path, os.path.join(os.path.dirname(path), "archive"))
    before = _state(tree.home)
    assert isinstance(archive(path, wanted), Retained)
    assert _state(tree.home) == before


@pytest.mark.usefixtures("without_links")
def test_without_hard_links_what_took_the_sources_place_stays_in_the_inbox(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = send(tree, "bob").inboxes[0]
    wanted, rename = _digest(path), os.rename

    def race(source: str, target: str, **places: int) -> None:
        monkeypatch.setattr(os, "rename", rename)
        os.unlink(path)
        Path(path).write_bytes(b"other")
        rename(source, target, **places)

    monkeypatch.setattr(os, "rename", race)
    outcome = archive(path, wanted)
    assert isinstance(outcome, Retained)
    assert Path(path).read_bytes() == b"other"
    assert names_in(tree, "bob", "inbox/archive") == set()


@pytest.mark.parametrize("has_links", [True, False])
def test_a_name_that_a_killed_mover_held_is_used_by_the_next(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    path = send(tree, "bob").inboxes[0]
    wanted, link = _digest(path), os.link

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links")

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(os, "link", refuse)
        killed.setattr(os, "rename", die)
        with pytest.raises(KeyboardInterrupt):
            archive(path, wanted)
    assert names_in(tree, "bob", "inbox/archive") == {os.path.basename(path)} == names_in(tree, "bob")
    assert [one.name for one in list_inbox(tree, "demo", "bob")] == [os.path.basename(path)]
    monkeypatch.setattr(os, "link", link if has_links else refuse)
    outcome = archive(path, wanted)
    assert isinstance(outcome, Archived)
    assert _digest(outcome.path) == wanted
    assert names_in(tree, "bob") == set()
