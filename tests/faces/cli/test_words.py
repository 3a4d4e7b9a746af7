"""What stands on a command line: help, options before the command, and what is said of a mistake."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from restante import __version__
from restante.faces.cli.command import AUDIENCES
from restante.faces.cli.table import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Answer


@pytest.mark.parametrize("words", [("help",), ("--help",), ("-h",)])
def test_the_overview_lists_every_command_below_whom_it_is_for(
    restante: Callable[..., Answer], words: tuple[str, ...]
) -> None:
    answer = restante(*words)
    assert answer.code == 0
    lists = {part.split(":\n")[0]: part for part in answer.out.split("\n\n") if part.split(":\n")[0] in AUDIENCES}
    assert list(lists) == list(AUDIENCES)
    for command in COMMANDS:
        first, _, rest = command.name.partition(" ")
        told = lists[command.audience].partition(f"  {first} ")[2]
        assert told, command.name
        assert re.search(rf"[:,]\s+{rest}\b" if rest else re.escape(command.summary), told), command.name


def test_the_name_alone_tells_where_to_begin(restante: Callable[..., Answer]) -> None:
    answer = restante()
    assert answer.code == 0
    assert len(answer.out.splitlines()) < 20
    names = {command.name for command in COMMANDS} | {"help"}
    told = re.findall(r"(?m)^ *restante (\w+)|; restante (\w+)|restante (help|doctor)", answer.out)
    assert {word for found in told for word in found if word} <= names
    assert "restante install" in answer.out


@pytest.mark.parametrize("words", [("help", "send"), ("send", "--help"), ("send", "-h"), ("-C", "/", "send", "--help")])
def test_help_of_a_command_can_be_asked_for_in_either_order(
    restante: Callable[..., Answer], words: tuple[str, ...]
) -> None:
    answer = restante(*words)
    assert answer.code == 0, answer.err
    assert answer.out.startswith("usage: restante send")
    assert "byte for byte" in answer.out


@pytest.mark.parametrize("words", [("help", "repeats"), ("repeats", "--help")])
def test_help_of_a_first_word_lists_what_may_follow(restante: Callable[..., Answer], words: tuple[str, ...]) -> None:
    answer = restante(*words)
    assert answer.code == 0
    assert [line.split()[1] for line in answer.out.splitlines()] == [
        command.name.split()[1] for command in COMMANDS if command.name.startswith("repeats ")
    ]


def test_help_of_a_longer_name(restante: Callable[..., Answer]) -> None:
    assert restante("help", "repeats", "show").out.startswith("usage: restante repeats show ID")


@pytest.mark.parametrize("words", [("version",), ("--version",), ("--json", "version")])
def test_the_version_is_told(restante: Callable[..., Answer], words: tuple[str, ...]) -> None:
    assert restante(*words).out == f"restante {__version__}\n"


def test_directory_and_json_may_stand_before_the_command(
    restante: Callable[..., Answer], sent: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent("text")
    monkeypatch.chdir(tmp_path)
    for words in (
        ("-C", "repo", "--json", "status"),
        ("--json", "-Crepo", "status"),
        ("-C", "repo", "status", "--json"),
    ):
        answer = restante(*words)
        assert answer.code == 0, answer.err
        assert answer.json["counts"]["total"] == 1
    assert restante("-C").code == 0
    assert restante("-C", "nowhere", "status").code == 3


@pytest.mark.parametrize(
    ("words", "near", "behind"),
    [
        (("send", "text", "--priorty", "high"), "--priority, or restante send --help", True),
        (("send", "text", "--zzz"), "restante send --help", True),
        (("reply", "msg_x", "--fille=x"), "--file, or restante reply --help", True),
        (("archive", "--jsn"), "--json, or restante archive --help", False),
        (("inbox", "--pek"), "--peek, or restante inbox --help", False),
    ],
)
def test_an_unknown_option_is_answered_with_the_nearest_one(
    restante: Callable[..., Answer], words: tuple[str, ...], near: str, behind: bool
) -> None:
    answer = restante(*words)
    assert answer.code == 2
    assert f"try: {near}" in answer.err
    assert ("behind --" in answer.err) is behind


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("sned", "text"), "restante send"),
        (("zzz",), "restante help"),
        (("repeats",), "repeats list"),
        (("repeats", "pausee"), "restante repeats pause"),
        (("repeats", "zzz"), "restante help repeats"),
        (("session", "renam"), "restante session rename"),
        (("help", "zzz"), "restante help"),
    ],
)
def test_an_unknown_command_is_answered_with_the_nearest_one(
    restante: Callable[..., Answer], words: tuple[str, ...], remedy: str
) -> None:
    answer = restante(*words)
    assert answer.code == 2
    assert remedy in answer.err


@pytest.mark.parametrize("text", ["yesterday", "2026-11-30T10:00:00", "2026-11-30"])
def test_a_time_that_is_none_is_answered_with_both_forms(restante: Callable[..., Answer], text: str) -> None:
    answer = restante("send", "text", "--expires", text)
    assert answer.code == 2
    assert "12h" in answer.err
    assert "2026-05-20T15:30:00Z" in answer.err


def test_an_error_of_the_configuration_ends_with_2(
    restante: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESTANTE_CONFIG", "/nowhere/config.toml")
    answer = restante("status")
    assert answer.code == 2
    assert "RESTANTE_CONFIG='/nowhere/config.toml' cannot be read" in answer.err


@pytest.mark.parametrize("words", [("arm",), ("check", "a/b", "--forced"), ("scheduled", "a/b"), ("prepare",)])
def test_a_line_that_no_monitor_command_fits_is_no_answer_of_a_monitor(
    restante: Callable[..., Answer], words: tuple[str, ...]
) -> None:
    answer = restante("monitor", *words)
    assert answer.code == 64, "2 would say that there is nothing to do now"
    assert f"restante monitor {words[0]} --help" in answer.err


def test_what_has_to_be_given_stands_in_no_brackets(restante: Callable[..., Answer]) -> None:
    usage = restante("subscribe", "--help").out.splitlines()[0]
    assert "subscribe --to TEAM/ROLE --action ID --correlation KEY --until STATE,... --expires WHEN [" in usage
    answer = restante("subscribe", "--to", "a/b", "--until", "done")
    assert (answer.code, answer.err.splitlines()[0]) == (2, "error: not given: --action, --correlation, --expires")


@pytest.mark.parametrize(("command", "shown"), [("inbox", "[--wait [SECONDS]]"), ("install", "[--mcp [tools|hooks]]")])
def test_a_value_that_may_be_left_out_stands_in_brackets(
    restante: Callable[..., Answer], command: str, shown: str
) -> None:
    assert shown in restante(command, "--help").out.splitlines()[0]


def test_the_words_of_an_option_are_told_once(restante: Callable[..., Answer]) -> None:
    told = " ".join(restante("install", "--help").out.split())
    assert "off: on, off" not in told
    assert "(unless you said off), or off." in told


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (("--state", "passed"), "--action, --correlation"),
        (("--action", "ci/run", "--correlation", "4f2a"), "--state"),
    ],
)
def test_a_post_says_all_of_what_became_of_an_action_or_nothing(
    restante: Callable[..., Answer], words: tuple[str, ...], missing: str
) -> None:
    answer = restante("post", "parser/reviewer", "text", *words)
    assert answer.code == 2
    assert f"not given: {missing}\n" in answer.err
    assert "these go together: --action, --correlation, --state" in answer.err
