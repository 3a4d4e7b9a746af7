"""What a sandboxed agent leaves in its worktree: whole, in order, and proven to be its own."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import StorageFailed
from restante.system.bells import is_ringing
from restante.system.outgoing import Outgoing, WorktreeLeavings

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ab" * 32


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    place = tmp_path / "repo"
    (place / ".codex-mailbox").mkdir(parents=True)
    return place


def _left(worktree: Path) -> list[Path]:
    return sorted((worktree / ".codex-mailbox" / ".restante" / "outgoing").iterdir())


def test_what_is_left_rings_and_is_told_in_order_until_it_is_dropped(worktree: Path) -> None:
    outgoing = Outgoing(str(worktree), "s", SECRET)
    names = [outgoing.leave("post", {"body": f"{number}é\ud800"}) for number in range(5)]
    assert is_ringing(str(worktree))
    assert [word.name for word in outgoing.words()] == names == sorted(names)
    assert [word.fields["body"] for word in outgoing.words()] == [f"{number}é\ud800" for number in range(5)]
    outgoing.drop(names[0])
    outgoing.drop(names[0])
    assert [word.name for word in outgoing.words()] == names[1:]
    assert {path.stat().st_mode & 0o777 for path in _left(worktree)} == {0o600}


def test_another_sessions_things_are_passed_over_and_left(worktree: Path) -> None:
    Outgoing(str(worktree), "s", SECRET).leave("post", {})
    assert Outgoing(str(worktree), "other", SECRET).words() == []
    assert Outgoing(str(worktree), "s", "cd" * 32).words() == []
    assert len(_left(worktree)) == 1


@pytest.mark.parametrize("how", ["changed", "renamed", "cut", "empty", "nonsense", "link", "directory", "fifo"])
def test_what_is_not_as_it_was_left_is_never_done(worktree: Path, tmp_path: Path, how: str) -> None:
    outgoing = Outgoing(str(worktree), "s", SECRET)
    outgoing.leave("post", {"body": "left"})
    (path,) = _left(worktree)
    data = path.read_bytes()
    if how == "changed":
        path.write_bytes(data.replace(b"left", b"lost"))
    elif how == "renamed":
        path.rename(path.with_name("1-again.json"))
    elif how == "cut":
        path.write_bytes(data[:-9])
    elif how in ("empty", "nonsense"):
        path.write_bytes(b"" if how == "empty" else b"\xff\n[[[[\n")
    else:
        path.unlink()
        if how == "link":
            (tmp_path / "elsewhere").write_bytes(data)
            path.symlink_to(tmp_path / "elsewhere")
        elif how == "directory":
            path.mkdir()
        else:
            os.mkfifo(path)
    assert outgoing.words() == []


def test_half_a_file_of_one_that_was_killed_is_no_thing_to_do(worktree: Path) -> None:
    outgoing = Outgoing(str(worktree), "s", SECRET)
    outgoing.leave("post", {})
    (path,) = _left(worktree)
    path.rename(f"{path}.tmp")
    assert outgoing.words() == []


def test_what_a_killed_one_left_half_is_cleaned_away_after_a_while(worktree: Path) -> None:
    outgoing = Outgoing(str(worktree), "s", SECRET)
    names = [outgoing.leave("post", {}) for _ in range(3)]
    old, new, whole = _left(worktree)
    for path in (old, new):
        path.rename(f"{path}.tmp")
    os.utime(f"{old}.tmp", (0, 0))
    (other := old.with_name("settings.json.tmp")).write_text("not ours")
    os.utime(other, (0, 0))
    outgoing.clean()
    assert [path.name for path in _left(worktree)] == sorted([f"{names[1]}.tmp", names[2], other.name])
    assert whole.exists()


@pytest.mark.parametrize("part", [".codex-mailbox", ".restante", "outgoing"])
def test_where_a_link_is_on_the_way_nothing_is_left_and_nothing_removed(
    worktree: Path, tmp_path: Path, part: str
) -> None:
    outgoing = Outgoing(str(worktree), "s", SECRET)
    name = outgoing.leave("post", {})
    (path,) = _left(worktree)
    place = next(one for one in path.parents if one.name == part)
    place.rename(worktree / "real")
    place.symlink_to(worktree / "real")
    WorktreeLeavings().drop_texts(str(worktree))
    assert [one.name for one in _left(worktree)] == [name]
    with pytest.raises(StorageFailed):
        outgoing.leave("post", {})


def test_without_a_mailbox_or_through_a_link_that_leads_out_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed):
        Outgoing(str(tmp_path), "s", SECRET).leave("post", {})
    (tmp_path / "out").mkdir()
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / ".codex-mailbox").symlink_to(tmp_path / "out")
    with pytest.raises(StorageFailed):
        Outgoing(str(tmp_path / "repo"), "s", SECRET).leave("post", {})
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == []


def test_the_secret_is_not_in_what_is_left(worktree: Path) -> None:
    Outgoing(str(worktree), "s", SECRET).leave("acknowledge", {"ids": ["m"]})
    (path,) = _left(worktree)
    proof, text = path.read_text().splitlines()
    assert SECRET not in path.read_text()
    assert len(proof) == 64
    assert json.loads(text) == {"session": "s", "kind": "acknowledge", "fields": {"ids": ["m"]}}
