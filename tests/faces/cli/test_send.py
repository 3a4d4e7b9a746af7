"""``restante send``: every way to give a text, and every way to be refused."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Answer


def _stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def _body(restante: Callable[..., Answer]) -> str:
    return str(restante("snapshot").json["messages"][-1]["body"])


def test_words_are_joined_by_a_space(restante: Callable[..., Answer]) -> None:
    assert restante("send", "Leave", "auth", "alone.").code == 0
    assert _body(restante) == "Leave auth alone."


@pytest.mark.parametrize(
    "text",
    [
        "- fixed the parser",
        "-1 on this",
        "--dry-run is broken, look",
        "-x y",
        "-\tz",
        "--json is odd",
        "-p high please",
    ],
)
def test_a_text_may_begin_with_a_dash(restante: Callable[..., Answer], text: str) -> None:
    answer = restante("send", text)
    assert answer.code == 0, answer.err
    assert _body(restante) == text


def test_options_work_before_and_after_such_a_text(restante: Callable[..., Answer]) -> None:
    assert restante("send", "--priority", "high", "- x y", "-s", "question").code == 0
    message = restante("snapshot").json["messages"][0]
    assert (message["priority"], message["scope"], message["body"]) == ("high", "question", "- x y")


def test_an_unknown_option_after_the_text_is_a_usage_error_that_names_the_way_out(
    restante: Callable[..., Answer],
) -> None:
    answer = restante("send", "text", "--nope")
    assert answer.code == 2
    assert "--nope" in answer.err
    assert "behind --" in answer.err
    assert restante("send", "--", "--nope").code == 0
    assert _body(restante) == "--nope"


def test_a_lone_dash_reads_standard_input_byte_for_byte(
    restante: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    _stdin(monkeypatch, "## Steps\r\n\r\n---\r\nä\n".encode())
    assert restante("send", "-").code == 0
    assert _body(restante) == "## Steps\r\n\r\n---\r\nä\n"


def test_a_file_is_read_byte_for_byte(restante: Callable[..., Answer], tmp_path: Path) -> None:
    (tmp_path / "notes").write_bytes(b"  a\n\n~~~\n")
    assert restante("send", "--file", str(tmp_path / "notes")).code == 0
    assert _body(restante) == "  a\n\n~~~\n"


@pytest.mark.parametrize("data", [b"caf\xe9", b"\xff\xfe"])
def test_a_text_that_is_not_utf_8_is_refused_with_its_place(
    restante: Callable[..., Answer], tmp_path: Path, data: bytes
) -> None:
    (tmp_path / "notes").write_bytes(data)
    answer = restante("send", "--file", str(tmp_path / "notes"))
    assert answer.code == 2
    assert "is not UTF-8" in answer.err


def test_without_a_text_and_without_a_terminal_the_ways_to_give_one_are_named(restante: Callable[..., Answer]) -> None:
    answer = restante("send")
    assert answer.code == 2
    assert "standard input" in answer.err


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_an_empty_text_is_refused(restante: Callable[..., Answer], text: str, worktree: Path) -> None:
    assert restante("send", text).code == 2
    assert not (worktree / ".codex-mailbox").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--priority", "urgent"),
        ("--priority", "high\nstatus: cancelled"),
        ("--scope", "world"),
        ("--expires", "soon"),
        ("--expires", "2026-11-30T10:00:00"),
        ("--expires", "2020-01-01T00:00:00Z"),
        ("--expires", "2026-11-30T10:00:60Z"),
        ("--expires", "9999-12-31T23:59:59-12:00"),
        ("--expires", "0001-01-01T00:00:00+12:00"),
        ("--expires", ""),
        ("--repeat", ""),
        ("--repeat", "1s"),
        ("--repeat", "often"),
        ("--subject", "a\nb"),
        ("--client-id", "a\nb"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_and_nothing_is_stored(
    restante: Callable[..., Answer], worktree: Path, option: str, value: str
) -> None:
    answer = restante("send", "text", option, value)
    assert answer.code == 2, answer.err
    assert not (worktree / ".codex-mailbox" / "INBOX.md").exists()


def test_a_secret_is_refused_named_and_not_printed(restante: Callable[..., Answer], worktree: Path) -> None:
    secret = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    answer = restante("send", f"use {secret}\nplease")
    assert answer.code == 4
    assert "line 1" in answer.err
    assert secret not in answer.err
    assert "--allow-warnings" in answer.err
    assert not (worktree / ".codex-mailbox").exists()
    assert restante("send", f"use {secret}", "--allow-warnings").code == 0


def test_size_is_never_overridden(restante: Callable[..., Answer]) -> None:
    answer = restante("send", "x" * 16_385, "--allow-warnings")
    assert answer.code == 4
    assert "16,385" in answer.err
    assert "16,384" in answer.err
    assert restante("send", "x" * 16_384).code == 0


def test_the_same_client_id_sends_once(restante: Callable[..., Answer]) -> None:
    first = restante("send", "text", "--client-id", "c1", "--json").json
    again = restante("send", "text", "--client-id", "c1", "--json").json
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert first["message"]["id"] == again["message"]["id"]
    answer = restante("send", "another text", "--client-id", "c1")
    assert answer.code == 4
    assert "c1" in answer.err


def test_an_expiry_is_kept_and_a_day_has_24_hours(
    restante: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESTANTE_NOW", "2026-10-24T22:00:00Z")
    assert restante("send", "text", "--expires", "1d").code == 0
    assert restante("status", "--json").json["messages"][0]["expires_at"] == "2026-10-25T22:00:00.000Z"
    monkeypatch.setenv("RESTANTE_NOW", "2026-10-25T22:00:00Z")
    assert restante("status", "--json").json["messages"][0]["status"] == "expired"


def test_an_editor_gives_the_text(
    restante: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "from the editor\\n" > "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.setattr("restante.faces.cli.inputs.at_terminal", lambda: True)
    assert restante("send").code == 0
    assert _body(restante) == "from the editor"


def test_an_error_is_json_where_json_was_asked_for(restante: Callable[..., Answer]) -> None:
    import json

    answer = restante("send", "text", "--priority", "urgent", "--json")
    assert answer.code == 2
    error = json.loads(answer.err)["error"]
    assert error["code"] == "usage"
    assert "low, normal, high" in error["remedy"]


def test_outside_of_any_worktree_nothing_is_created(
    restante: Callable[..., Answer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.chdir(outside)
    assert restante("send", "text").code == 3
    assert list(outside.iterdir()) == []


def test_a_repeat_is_set_up_with_the_first_message(restante: Callable[..., Answer]) -> None:
    answer = restante("send", "Re-check the gate.", "--repeat", "30m", "--json").json
    assert answer["repeat"]["interval_ms"] == 1_800_000
    assert answer["repeat"]["source_message_id"] == answer["message"]["id"]
