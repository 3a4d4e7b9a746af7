"""Trust in our Codex hooks, written into a person's own configuration."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.agents.install.conftest import git

from restante.agents.codex import digest_of
from restante.agents.installer import FileInstaller
from restante.agents.toml_edit import add_entries
from restante.domain.errors import NothingThere, Unreadable, UsageError

EVENTS = ["session_start", "user_prompt_submit", "post_tool_use", "stop", "session_end"]


@pytest.fixture
def config(env: dict[str, str]) -> Path:
    path = Path(env["HOME"]) / ".codex" / "config.toml"
    path.parent.mkdir()
    return path


def install(installer: FileInstaller) -> None:
    installer.apply(installer.plan_install(["codex"]))


def trust(installer: FileInstaller) -> None:
    installer.apply(installer.plan_trust())


def states(installer: FileInstaller) -> dict[str, str]:
    """What the doctor says of each hook."""
    return {
        line.name.removeprefix("codex: trust "): line.detail.partition(" ")[0].rstrip(":")
        for line in installer.checks()
        if line.name.startswith("codex: trust ")
    }


def test_our_hooks_and_no_others_become_trusted_and_doing_it_again_changes_nothing(
    installer: FileInstaller, repo: Path, env: dict[str, str]
) -> None:
    (repo / ".codex").mkdir()
    theirs = {"type": "command", "command": "make"}
    (repo / ".codex" / "hooks.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [theirs]}]}}))
    install(installer)
    plan = installer.plan_trust()
    assert len(plan.changes) == 1
    assert plan.notes
    installer.apply(plan)
    path = Path(env["HOME"]) / ".codex" / "config.toml"
    written = tomllib.loads(path.read_text())
    where = f"{repo}/.codex/hooks.json"
    assert set(written["hooks"]["state"]) == {f"{where}:{e}:{1 if e == 'stop' else 0}:0" for e in EVENTS}
    assert written["projects"] == {str(repo): {"trust_level": "trusted"}}
    assert path.stat().st_mode & 0o777 == 0o600
    assert installer.plan_trust().changes == ()
    assert set(states(installer).values()) == {"trusted"}


def test_the_rest_of_the_configuration_keeps_every_byte(installer: FileInstaller, config: Path) -> None:
    mine = b'# mine\r\nmodel = "x"   # why\r\n\r\n[projects."/else"]\r\ntrust_level = "untrusted"'
    config.write_bytes(mine)
    config.chmod(0o644)
    install(installer)
    trust(installer)
    assert config.read_bytes().startswith(mine + b"\r\n\r\n[hooks.state.")
    assert b"\n" not in config.read_bytes().replace(b"\r\n", b"")
    assert config.stat().st_mode & 0o777 == 0o644


def test_an_older_trust_is_brought_up_to_date_in_place(installer: FileInstaller, repo: Path, config: Path) -> None:
    key = f"{repo}/.codex/hooks.json:stop:0:0"
    config.write_text(
        f'[hooks.state."{key}"]   # ours\n  trusted_hash   =  "sha256:old"  # was\nenabled = true\n\n'
        f'[hooks.state."other"]\ntrusted_hash = "sha256:old"\n'
    )
    install(installer)
    assert states(installer)["Stop"] == "modified"
    trust(installer)
    text = config.read_text()
    assert text.count(key) == 1
    assert 'state."other"]\ntrusted_hash = "sha256:old"\n' in text
    assert '"  # was\nenabled = true\n\n' in text
    assert states(installer)["Stop"] == "trusted"


def test_uninstalling_names_the_file_in_which_trust_in_our_hooks_stays_and_leaves_it_alone(
    installer: FileInstaller, repo: Path, config: Path
) -> None:
    install(installer)
    config.write_text('model = "x"\n')
    assert not any("config.toml" in note for note in installer.plan_uninstall().notes)
    trust(installer)
    before = config.read_bytes()
    plan = installer.plan_uninstall()
    (note,) = [note for note in plan.notes if str(config) in note]
    assert "5 entries" in note
    assert f'[hooks.state."{repo}/.codex/hooks.json:session_start:0:0"]' in note
    installer.apply(plan)
    assert config.read_bytes() == before
    assert installer.plan_uninstall().changes == ()


def test_no_entry_is_named_while_another_worktree_still_needs_it(
    installer: FileInstaller, repo: Path, bin_dir: Path, env: dict[str, str], tmp_path: Path
) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    linked = FileInstaller(str(tmp_path / "linked"), str(bin_dir), env)
    for one in (installer, linked):
        install(one)
    trust(installer)
    assert not any("config.toml" in note for note in installer.plan_uninstall().notes)


def test_a_persons_no_to_the_project_stays(installer: FileInstaller, repo: Path, config: Path) -> None:
    config.write_text(f'[projects."{repo}"]\ntrust_level = "untrusted"\n')
    install(installer)
    plan = installer.plan_trust()
    assert any("untrusted" in note for note in plan.notes)
    installer.apply(plan)
    assert tomllib.loads(config.read_text())["projects"][str(repo)] == {"trust_level": "untrusted"}
    project = next(line for line in installer.checks() if line.name == "codex: project")
    assert project.ok is not True
    assert project.remedy.startswith("by hand: ")
    assert str(config) in project.remedy


def test_a_hook_switched_off_by_hand_is_told_from_an_untrusted_one(
    installer: FileInstaller, repo: Path, config: Path
) -> None:
    install(installer)
    trust(installer)
    key = f'[hooks.state."{repo}/.codex/hooks.json:stop:0:0"]\n'
    config.write_text(config.read_text().replace(key, key + "enabled = false\n"))
    assert installer.plan_trust().changes == ()
    assert states(installer)["Stop"] == "switched"


def test_a_hook_put_before_ours_takes_its_trust_away_and_doctor_says_so(installer: FileInstaller, repo: Path) -> None:
    install(installer)
    trust(installer)
    path = repo / ".codex" / "hooks.json"
    document = json.loads(path.read_text())
    document["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "make"}]})
    path.write_text(json.dumps(document))
    assert installer.plan_install(["codex"]).changes == ()
    assert states(installer) == {**dict.fromkeys(states(installer), "trusted"), "Stop": "untrusted"}
    stop = next(line for line in installer.checks() if line.name == "codex: trust Stop")
    assert stop.remedy == "restante install --trust"


def test_trust_survives_uninstalling_and_installing_again(installer: FileInstaller) -> None:
    install(installer)
    trust(installer)
    installer.apply(installer.plan_uninstall())
    install(installer)
    assert set(states(installer).values()) == {"trusted"}
    assert not any("install --trust" in note for note in installer.plan_install(["codex"]).notes)


def test_a_configuration_kept_elsewhere_is_changed_where_it_is_kept(
    installer: FileInstaller, config: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "dotfiles.toml"
    kept.write_text('model = "x"\n')
    config.symlink_to(kept)
    install(installer)
    trust(installer)
    assert config.is_symlink()
    assert kept.read_text().startswith('model = "x"\n\n[hooks.state.')


def test_codex_home_is_honoured(repo: Path, bin_dir: Path, tmp_path: Path) -> None:
    installer = FileInstaller(str(repo), str(bin_dir), {"CODEX_HOME": str(tmp_path / "elsewhere")})
    install(installer)
    trust(installer)
    assert (tmp_path / "elsewhere" / "config.toml").exists()


def test_without_a_home_the_missing_variable_is_named(repo: Path, bin_dir: Path) -> None:
    for env in ({}, {"HOME": ""}):
        installer = FileInstaller(str(repo), str(bin_dir), env)
        install(installer)
        with pytest.raises(UsageError, match="HOME") as raised:
            installer.plan_trust()
        assert "CODEX_HOME" in raised.value.remedy
        assert any(line.ok is False and "HOME" in line.detail for line in installer.checks())


def test_without_our_hooks_there_is_nothing_to_trust(installer: FileInstaller) -> None:
    with pytest.raises(NothingThere) as raised:
        installer.plan_trust()
    assert raised.value.remedy.startswith("restante install")


@pytest.mark.parametrize(
    "text",
    [
        "hooks = 3\n",
        "hooks = { state = {} }\n",
        "not toml\n",
        '[[hooks.state]]\na = "b"\n',
        "\ufeffmodel = 1\n",
    ],
)
def test_a_configuration_that_cannot_be_added_to_is_refused_untouched(
    installer: FileInstaller, config: Path, text: str
) -> None:
    config.write_text(text)
    install(installer)
    with pytest.raises(Unreadable, match=r"config\.toml"):
        installer.plan_trust()
    assert config.read_text() == text


VALUES = [
    ("", "appended"),
    ('[t."k"]\n', "first"),
    ("[t.k]\nv = 'old'\n", "replaced"),
    ('[ t . "k" ] # c\nother = 1\n"v" = "o\\"ld"\n[z]\n', "replaced"),
    ("[t.k.deeper]\nx = 1\n", "parent defined after"),
    ('a = """\n[t.k]\nv = "x"\n"""\n', "header in a string"),
    ('a = """\n[t.k]\n"""\n[t.k]\nv = "x"\n', "header in a string, then a real one"),
    ("[t]\nk.w = 1\n[z]\n", None),
    ('[t.k]\nw = """\nv = "no"\n"""\nv = "old"\n', "key in a string"),
    ("[[z]]\n[[z]]\n[t.k]\n", "arrays of tables"),
]


@pytest.mark.parametrize(("text", "how"), VALUES)
def test_setting_a_value_changes_the_meaning_by_that_value_alone(text: str, how: str | None) -> None:
    def change() -> bytes:
        return add_entries(text.encode(), [(("t", "k"), "v", 'n\u00e9w "q"\\\x7f\n')], "c.toml")

    if how is None:
        with pytest.raises(Unreadable, match=r"c\.toml"):
            change()
        return
    expected: Any = tomllib.loads(text)
    expected.setdefault("t", {}).setdefault("k", {})["v"] = 'n\u00e9w "q"\\\x7f\n'
    once = change()
    assert tomllib.loads(once.decode()) == expected
    assert add_entries(once, [(("t", "k"), "v", 'n\u00e9w "q"\\\x7f\n')], "c.toml") == once


def test_the_recipe_of_the_hash_is_the_published_one() -> None:
    # Seen in an answer of hooks/list of Codex 0.171.0.
    known = "sha256:f43e7a7295e85cdaf85dad654edac2abaa14a71e718d11fcb454567bad6d3384"
    assert digest_of("Stop", {"type": "command", "command": "true # x", "timeout": 10}, {}) == known
    assert digest_of("Stop", {"type": "command", "command": "true # x", "timeout": 10}, {"matcher": "x"}) != known
    assert digest_of("Stop", {"type": "command", "command": "a"}, {}) == digest_of(
        "Stop", {"type": "command", "command": "a", "timeout": 600, "async": False}, {}
    )
