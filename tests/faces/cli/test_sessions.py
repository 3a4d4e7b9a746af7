"""``ls``, ``session``: who is there, what they do, what waits for them."""

from __future__ import annotations

import io
import os
import re
from typing import TYPE_CHECKING

import jsonschema
import pytest

from restante.faces.cli.schemas import SCHEMAS
from restante.faces.cli.session_schemas import SESSION_SCHEMAS

from .conftest import PLANNER, WORKER

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Cast


def test_s39_a_list_merges_the_numbers_of_mailboxes_into_its_table(cast: Cast) -> None:
    cast.post(PLANNER, "worker", "one")
    cast.post(PLANNER, "worker", "two")
    cast.by(WORKER, "inbox")
    cast.post(PLANNER, "worker", "three")
    out = cast.by("", "ls").out.splitlines()
    head = out[0].split("  ")
    assert [word.strip() for word in head if word.strip()] == [
        *("NAME", "ID", "AGENT", "STATE", "LAST TURN ENDED", "PENDING", "UNSEEN", "OLDEST UNSEEN", "PARKED")
    ]
    line = next(one for one in out if one.startswith("worker"))
    assert line.split()[:3] == ["worker", "0199bbbb-0000", "codex"]
    assert line[out[0].index("PENDING") :].split()[:2] == ["3", "1"]
    assert "just now" in line or " ago" in line
    row = cast.row("worker")
    assert (row["inboxPending"], row["inboxUnseen"]) == (3, 1)


def test_a_list_shows_turn_ends_with_their_age_and_source(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESTANTE_NOW", "2026-05-20T15:00:00Z")
    cast.enter("0199cccc-0000-7000-8000-00000000000c", "third")
    assert cast.restante("session", "turn", "began").code == 0
    assert cast.restante("session", "turn", "ended", "--source", "heuristic").code == 0
    answer = cast.by("", "ls")
    line = next(one for one in answer.out.splitlines() if one.startswith("third"))
    assert " idle" in line
    assert "(heuristic)" in line
    assert cast.row("third")["turn"] == 1
    assert cast.by("0199cccc-0000-7000-8000-00000000000c", "session", "turn", "began").code == 0
    row = cast.row("third")
    assert (row["turnEndedAt"], row["turn"], row["status"]) == (None, 1, "busy")


def test_a_session_that_ended_no_turn_yet_is_new_and_not_idle(cast: Cast) -> None:
    line = next(one for one in cast.by("", "ls").out.splitlines() if one.startswith("worker"))
    assert " new" in line
    assert "idle" not in line


def test_the_callers_own_line_has_a_star(cast: Cast) -> None:
    lines = cast.by(WORKER, "ls").out.splitlines()
    assert [one.split()[1] for one in lines if one.startswith("* ")] == ["worker"]


def test_a_list_names_who_waits_for_whom_and_who_is_idle_with_unread_mail(cast: Cast) -> None:
    cast.post(PLANNER, "worker", "your turn")
    cast.post(WORKER, "planner", "no, yours")
    for session in (PLANNER, WORKER):
        assert cast.by(session, "session", "turn", "ended").code == 0
    answer = cast.by("", "ls")
    assert "planner (0199aaaa-0000) and worker (0199bbbb-0000) wait for each other" in answer.out
    unread = next(one for one in answer.out.splitlines() if one.startswith("idle with unread mail: "))
    assert "worker (0199bbbb-0000) (1 unseen, oldest " in unread
    assert cast.restante("ls", "--json").json["mutual_waits"] == [[PLANNER, WORKER]]
    assert "next: " in answer.err


def test_a_list_is_short_for_a_model_and_counts_what_it_leaves_out(cast: Cast) -> None:
    answer = cast.by("", "ls", "--limit", "1")
    assert "1 more: restante ls --limit 2" in answer.out
    assert cast.restante("ls", "--limit", "1", "--json").json["left_out"] == 1
    assert cast.restante("ls", "--limit", "0").code == 2
    assert cast.restante("ls", "--limit", "many").code == 2


def test_what_stands_below_a_list_is_short_too_and_counted(cast: Cast) -> None:
    crowd = [f"0199{number:04x}-0000-7000-8000-000000000000" for number in range(13)]
    for number, session in enumerate(crowd):
        cast.enter(session, f"crowd-{number}")
        cast.post(PLANNER, session, "your turn")
        cast.post(session, "planner", "no, yours")
        cast.by(session, "session", "turn", "ended")
    cast.by(PLANNER, "session", "turn", "ended")
    out = cast.by("", "ls").out.splitlines()
    assert sum(" wait for each other: " in line for line in out) == 10
    assert "3 more pairs wait for each other" in out
    unread = next(line for line in out if line.startswith("idle with unread mail: "))
    assert unread.count("unseen, oldest") == 10
    assert unread.endswith(", and 4 more")
    assert len(cast.restante("ls", "--json").json["mutual_waits"]) == 13


def test_a_session_that_ended_keeps_its_mail_and_finds_it_when_it_comes_back(cast: Cast) -> None:
    message = cast.post(PLANNER, "worker", "text")
    assert "mail is kept" in cast.by(WORKER, "session", "end").out
    row = cast.row("worker")
    assert (row["presence"], row["inboxPending"], row["reason"]) == ("detached", 1, "exited")
    assert "worker" not in cast.restante("ls", "--alive").out
    answer = cast.by(PLANNER, "post", "worker", "more")
    assert "is kept until" in answer.err
    cast.enter(WORKER, "worker")
    assert message in cast.restante("inbox").out


def test_a_deleted_session_takes_its_mail_along_and_its_senders_can_learn_it(cast: Cast) -> None:
    message = cast.post(PLANNER, "worker", "text")
    assert cast.by("", "session", "delete", "worker").code == 0
    assert cast.restante("session", "show", "worker").code == 3
    assert cast.restante("session", "show", WORKER).code == 3
    assert cast.by(PLANNER, "receipts", message, "--json").json["receipts"][0]["state"] == "deleted"


@pytest.mark.parametrize("words", [("session", "show", "{}"), ("post", "{}", "text"), ("inbox", "--session", "{}")])
def test_who_is_unknown_is_not_there_and_too_little_of_an_id_is_refused(cast: Cast, words: tuple[str, ...]) -> None:
    for reference, code, told in (("foo", 3, "no session 'foo'"), (WORKER[:6], 4, "too short"), ("0", 4, "too short")):
        answer = cast.by("", *(word.format(reference) for word in words))
        assert (answer.code, told in answer.err) == (code, True), answer


def test_a_list_says_what_its_words_mean_where_they_stand_in_it(cast: Cast) -> None:
    cast.by("", "session", "start", "--id", "session-without-a-process", "--name", "far")
    shown = cast.by("", "ls").out
    assert "new: it has begun no turn" in shown
    assert "a state with ?: nobody can tell" in shown
    for name in (PLANNER, WORKER, "session-without-a-process"):
        cast.by("", "session", "turn", "ended", "--session", name)
        cast.by("", "session", "end", name)
    assert "new:" not in cast.by("", "ls").out
    assert "a state with ?" not in cast.restante("ls").out


def test_a_list_of_items_is_counted_by_what_was_said_of_it(cast: Cast) -> None:
    assert cast.by(WORKER, "session", "todo", "3").out.startswith("3 items open: worker")
    assert "\nitems        3 open" in cast.restante("session", "show").out
    assert "3 items open" in cast.restante("watch", WORKER).out
    assert cast.restante("session", "todo", "3", "5").out.startswith("3 of 5 items open: worker")


def test_a_dialog_is_told_once_and_in_the_word_that_every_list_has(cast: Cast) -> None:
    cast.by(WORKER, "session", "blocked", "permission")
    assert "blocked: permission" in cast.restante("watch", WORKER).out
    assert "blocked: blocked" not in cast.restante("watch", WORKER).out
    assert cast.row("worker")["state"] == "blocked"
    assert re.search(r"worker .* blocked: permission", cast.restante("ls").out)


def test_serve_takes_no_json_and_its_help_promises_none(cast: Cast) -> None:
    assert "--json" not in cast.restante("help", "serve").out
    assert cast.restante("serve", "--json").code == 2
    assert "--json" in cast.restante("help", "persist").out


def test_what_is_known_of_a_session_is_shown_and_can_be_changed(cast: Cast, worktree: Path) -> None:
    cast.act(WORKER)
    assert cast.restante("session", "rename", "Baumeister").code == 0
    assert cast.restante("session", "todo", "2", "5").code == 0
    assert cast.restante("session", "blocked", "permission").code == 0
    shown = cast.restante("session", "show").out
    for text in (WORKER, "Baumeister", str(worktree), "2 of 5 open", "blocked: permission"):
        assert text in shown
    assert cast.row("Baumeister")["reason"] == "blocked"
    assert cast.by(WORKER, "session", "blocked", "none").code == 0
    assert cast.row("Baumeister")["blocked"] is None


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("session", "todo", "6", "5"), 2),
        (("session", "todo", "-1"), 2),
        (("session", "blocked", "nonsense"), 2),
        (("session", "turn", "paused"), 2),
        (("session", "turn", "ended", "--source", "guess"), 2),
        (("session", "rename", "a\u202eb"), 2),
        (("session", "show", "0199zzzz-no-such"), 3),
        (("session", "show", "0199aaa"), 4),
        (("session", "delete", ""), 2),
        (("session",), 2),
    ],
)
def test_what_cannot_be_done_ends_with_its_code(cast: Cast, words: tuple[str, ...], code: int) -> None:
    answer = cast.by(WORKER, *words)
    assert answer.code == code, answer.err
    assert answer.out == ""


def test_a_person_has_no_session_of_its_own(cast: Cast) -> None:
    answer = cast.by("", "session", "end")
    assert answer.code == 2
    assert "restante ls" in answer.err


def test_names_and_places_of_sessions_cannot_act_on_a_terminal(cast: Cast) -> None:
    for session in (PLANNER, WORKER):
        cast.by(session, "session", "turn", "ended")
    cast.post(PLANNER, "worker", "text", "--subject", "\x1b]52;c;aGk=\x07 \u202e")
    for words in (("ls",), ("receipts",), ("watch", "--sessions"), ("inbox", "--session", "worker")):
        answer = cast.by(PLANNER, *words)
        assert answer.code == 0, answer.err
        assert "\x1b" not in answer.out + answer.err
        assert "\u202e" not in answer.out + answer.err


def test_every_answer_of_the_session_commands_is_as_its_schema_says(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = set()

    def ask(name: str, *words: str, codes: tuple[int, ...] = (0,)) -> None:
        answer = cast.restante(*name.removesuffix(" ID").split(), *words, "--json")
        assert answer.code in codes, answer.err
        jsonschema.Draft202012Validator(SCHEMAS[name]).validate(answer.json)
        asked.add(name)

    cast.act(PLANNER)
    ask("post", "worker", "text", "--client-id", "c1", "--subject", "s", "-p", "high", "--expires", "1h")
    message = cast.restante("receipts", "--json").json["receipts"][0]["messageId"]
    ask("receipts")
    ask("status ID", message)
    cast.act(WORKER)
    for name in ("inbox", "ls", "session show", "session end", "session start"):
        ask(name)
    ask("ack", message)
    ask("session rename", "worker")
    ask("session todo", "1", "2")
    ask("session blocked", "question")
    ask("session turn", "ended")
    ask("watch", "--sessions")
    cast.act()
    ask("watch", "--sessions", "worker", "--since", cast.restante("watch", "--sessions", "--json").json["cursor"],
        "--timeout", "0.1", codes=(5,))  # fmt: skip
    ask("persist")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a long password\n")))
    ask("account add", "ada")
    ask("account list")
    ask("account remove", "ada")
    ask("migrate", "data", str(tmp_path / "copy"))
    ask("session delete", "worker")
    assert asked == {*SESSION_SCHEMAS, "inbox", "ack", "watch", "status ID"}


def test_a_list_where_there_is_none_says_how_to_have_one(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESTANTE_DATA", os.path.join(os.environ["HOME"], "empty"))
    answer = cast.by("", "ls")
    assert (answer.code, answer.out) == (0, "no sessions\n")
    assert "restante install" in answer.err


def test_everything_can_be_copied_to_another_place_and_goes_on_there(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    message = cast.post(PLANNER, "worker", "text")
    answer = cast.by("", "migrate", "data", str(tmp_path / "copy"))
    assert answer.code == 0, answer.err
    assert "2 sessions, 1 mailbox (0 of them there before), 1 message, " in answer.out
    assert "(1 of them there before)" in cast.restante("migrate", "data", str(tmp_path / "copy")).out
    assert cast.restante("migrate", "data", "data").code == 2
    assert cast.restante("migrate", "database", "data").code == 2
    assert cast.restante("migrate", str(tmp_path / "nowhere"), "data").code == 3
    monkeypatch.setenv("RESTANTE_DATA", str(tmp_path / "copy"))
    assert message in cast.by("", "inbox", "--session", "worker").out


@pytest.mark.parametrize("name", ["Planner", "pl\u0430nner", "PLANN\u0415R", "planne\uff52"])
def test_bl53_a_list_says_which_names_look_alike(cast: Cast, name: str) -> None:
    assert "look alike" not in cast.restante("ls").out
    assert cast.by(WORKER, "session", "rename", name).code == 0
    (line,) = [one for one in cast.by("", "ls").out.splitlines() if "look alike" in one]
    assert f"planner ({PLANNER[:13]})" in line
    assert f"{name} ({WORKER[:13]})" in line
