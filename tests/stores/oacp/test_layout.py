"""Where a tree is, what is in it, and that no name and no link leads out of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.oacp import make_tree

from restante.domain.errors import NothingThere, RestanteError, Unsafe, UsageError
from restante.stores.oacp.layout import Tree, find_home, find_workspace, named_project

if TYPE_CHECKING:
    from pathlib import Path


def test_a_home_is_named_then_set_then_marked_then_the_persons(tmp_path: Path, tree: Tree) -> None:
    repo = tmp_path / "repo" / "deep"
    repo.mkdir(parents=True)
    (tmp_path / "repo" / ".oacp").symlink_to(tree.path("projects", "demo", "workspace.json"))
    environment = {"OACP_HOME": "/set", "HOME": "/me"}
    assert find_home(str(repo), environment, "/named") == "/named"
    assert find_home(str(repo), environment) == "/set"
    assert find_home(str(repo), {}) == tree.home
    assert find_home(str(tmp_path), {"HOME": "/me"}) == "/me/oacp"
    assert find_home(str(repo), {"HOME": "/me"}, "~/x") == "/me/x"
    assert find_workspace(str(repo)) == (tree.home, "demo")


def test_a_marker_counts_only_where_it_leads_to_a_projects_workspace_file(tmp_path: Path) -> None:
    (tmp_path / "workspace.json").write_text('{"project_name": "demo"}')
    assert find_workspace(str(tmp_path)) is None
    assert named_project(str(tmp_path)) == "demo"
    (tmp_path / ".oacp").write_text("[" * 100_000)
    (tmp_path / "workspace.json").write_text('{"project_name": "../x"}')
    assert named_project(str(tmp_path)) == ""


def test_what_is_there_is_listed_and_near_names_are_offered(tree: Tree) -> None:
    os.mkdir(tree.path("projects", "demo", "agents", ".hidden"))
    assert tree.projects() == ["demo", "other"]
    assert tree.agents("demo") == ["alice", "bob", "carol"]
    with pytest.raises(NothingThere, match="no project 'demos'") as project:
        tree.agents("demos")
    assert "demo" in project.value.remedy
    with pytest.raises(NothingThere, match="no agent 'alcie'") as agent:
        tree.check_agent("demo", "alcie")
    assert "alice" in agent.value.remedy
    assert Tree("/nowhere/at/all").projects() == []


@pytest.mark.parametrize("name", ["..", ".", "", "../demo", "a/b", "/etc", "demo\0", ".hidden", "a\\b"])
def test_no_name_leads_out_of_its_tree(tree: Tree, name: str) -> None:
    with pytest.raises(UsageError):
        tree.check_project(name)
    with pytest.raises(RestanteError):
        tree.check_agent("demo", name)


@pytest.mark.parametrize(
    "part", ["projects", "projects/demo", "projects/demo/agents/bob", "projects/demo/agents/bob/inbox"]
)
def test_no_link_below_the_home_is_followed(tmp_path: Path, tree: Tree, part: str) -> None:
    make_tree(tmp_path / "elsewhere", "demo", "alice", "bob")
    place = tree.path(part)
    os.rename(place, f"{place}.real")
    os.symlink(str(tmp_path / "elsewhere" / part), place)
    with pytest.raises(Unsafe, match="symbolic link"):
        tree.open_agent("demo", "bob", "inbox")


def test_the_home_itself_may_be_a_link(tmp_path: Path, tree: Tree) -> None:
    os.symlink(tree.home, tmp_path / "link")
    assert Tree(str(tmp_path / "link")).agents("other") == ["alice"]
