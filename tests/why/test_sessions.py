"""Causes that lie with sessions: there is none, it ended, it works, it waits for a person; hooks that show nothing."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from restante.domain.registry import Process

from .conftest import READER, WRITER

if TYPE_CHECKING:
    from .conftest import Scene


def test_nothing_is_installed(scene: Scene) -> None:
    told = scene.why(scene.send())
    assert told["cause"] == "hooks-missing"
    assert told["command"] == "restante install --agent codex,claude"
    scene.do(*told["command"].split()[1:])
    assert scene.cause(told["message_id"]) != "hooks-missing"


def test_hooks_that_are_out_of_date_are_none(pair: Scene) -> None:
    message = pair.send()
    file = pair.root / ".codex" / "hooks.json"
    file.write_text(file.read_text().replace("restante-hook", "restante-hook-of-old"))
    told = pair.why(message)
    assert (told["cause"], told["command"]) == ("hooks-missing", "restante install --agent codex")


def test_hooks_that_codex_does_not_trust(scene: Scene) -> None:
    scene.install(trust=False)
    scene.register(WRITER, "writer")
    scene.register(READER, "reader")
    here, own = scene.send(), scene.post("reader")
    told = scene.why(here)
    assert (told["cause"], told["command"]) == ("hooks-untrusted", "restante install --trust")
    assert "untrusted" in told["sentence"] or "not trusted" in told["sentence"]
    assert scene.why(own, by=WRITER)["command"].startswith("restante install --trust -C ")
    scene.do("install", "--trust", "--yes")
    assert scene.cause(here) == "not-monitored"


def test_hooks_that_are_switched_off_name_the_file_that_says_so(scene: Scene) -> None:
    scene.install("claude")
    scene.register(READER, "reader", "claude")
    message = scene.send()
    settings = scene.root / ".claude" / "settings.json"
    settings.write_text(json.dumps({"disableAllHooks": True}))
    told = scene.why(message)
    assert told["cause"] == "hooks-off"
    assert str(settings) in told["sentence"]


def test_the_hooks_that_count_are_those_of_the_session_that_is_there(scene: Scene) -> None:
    scene.install("claude")
    scene.register(READER, "reader", "codex")
    assert scene.cause(scene.send()) == "hooks-missing"


def test_no_session_yet_none_alive_and_sessions_that_nobody_registers(scene: Scene) -> None:
    scene.install("claude", sessions="on")
    message = scene.send()
    assert scene.cause(message) == "no-session"
    pid = scene.register(READER, "reader", "claude")
    scene.kill(pid)
    told = scene.why(message)
    assert told["cause"] == "no-live-session"
    assert "1 ended" in told["sentence"]


def test_where_sessions_are_not_registered_nothing_is_made_up_about_them(scene: Scene) -> None:
    scene.install("claude", sessions="off")
    told = scene.why(scene.send())
    assert (told["cause"], told["command"]) == ("no-register", "restante install --sessions on")


def test_a_session_whose_process_was_killed_and_one_that_ended(pair: Scene) -> None:
    pid = pair.register("0199cccc-0000-7000-8000-00000000000c", "third")
    gone, ended = pair.post("third"), pair.post("reader")
    pair.kill(pid)
    assert pair.cause(gone, by=WRITER) == "session-gone"
    pair.do("session", "end", by=READER)
    assert pair.cause(ended, by=WRITER) == "session-detached"


def test_a_session_of_another_machine(pair: Scene) -> None:
    pair.register("0199cccc-0000-7000-8000-00000000000c", "third", process=Process("far-away", 7, "1"))
    told = pair.why(pair.post("third"), by=WRITER)
    assert told["cause"] == "session-elsewhere"
    assert "another machine" in told["sentence"]


def test_299_a_dialog_that_waits_for_a_person_is_told_to_whoever_waits_for_the_session(pair: Scene) -> None:
    pair.sign(READER, has_ended=False, seconds_ago=5)
    message = pair.post("reader")
    pair.do("session", "blocked", "permission", by=READER)
    told = pair.why(message, by=WRITER)
    assert told["cause"] == "dialog"
    assert "permission" in told["sentence"]


def test_a_session_that_is_inside_of_a_tool_since_14_minutes(pair: Scene) -> None:
    pair.sign(READER, has_ended=False, seconds_ago=14 * 60)
    pair.sign(WRITER, has_ended=True, seconds_ago=60 * 60)
    for message, asker in ((pair.post("reader"), WRITER), (pair.send(), "")):
        told = pair.why(message, by=asker)
        assert told["cause"] == "busy"
        assert "reader (0199bbbb-0000) is busy for 14 min" in told["sentence"]
        assert told["command"] == f"restante watch {READER}"


def test_a_checkpoint_that_had_room_for_other_mail_only(pair: Scene) -> None:
    pair.later(seconds=-60)
    pair.send("Look." + "x" * 3000, "-p", "high")
    message = pair.send("Look.", "-p", "low")
    os.environ.pop("RESTANTE_NOW")
    shown = pair.hook("UserPromptSubmit")
    assert shown
    assert message not in shown
    pair.later(seconds=30)
    assert pair.cause(message) == "passed-by"


def test_a_bell_that_does_not_ring(pair: Scene) -> None:
    message = pair.send()
    box = pair.root / ".codex-mailbox"
    (box / ".restante").mkdir(exist_ok=True)
    quiet, at = box / ".restante" / "quiet", (box / "INBOX.md").stat().st_mtime_ns
    quiet.touch()
    os.utime(quiet, ns=(at, at))
    assert pair.cause(message) == "bell-silent"


@pytest.mark.parametrize("has_worked", [True, False])
def test_an_idle_session_that_nothing_wakes(pair: Scene, has_worked: bool) -> None:
    if has_worked:
        pair.end_turn()
    told = pair.why(pair.post("reader"), by=WRITER)
    assert told["cause"] == "not-monitored"
    assert ("is idle for 20 min" in told["sentence"]) == has_worked
    assert told["command"] == f"restante monitor arm session:{READER} --session {READER}"
