"""The verbs of OACP: their answers, their exit codes, and what they do better than the original."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests.architecture.source import PACKAGE, ROOT

from restante.faces.oacp import trusting

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Told

    Oacp = Callable[..., Told]

ASK = ("send", "demo", "--from", "alice", "--to", "codex", "--type", "question", "--subject", "Which?")


def sent(oacp: Oacp, *words: str, body: str = "This one?") -> dict[str, Any]:
    told = oacp(*ASK, *words, "--body", body, "--json")
    assert told.code == 0, told.err
    answer = told.json
    assert isinstance(answer, dict)
    return answer


def test_the_version_satisfies_the_skill(oacp: Oacp) -> None:
    import re

    told = oacp("--version")
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", told.out)
    assert found
    assert tuple(map(int, found.groups())) >= (0, 4, 3)


@pytest.mark.parametrize("words", [("nope",), ("trust", "nope"), ("send", "demo"), ("inbox", "demo"), ("autonomy",)])
def test_a_call_that_cannot_work_ends_with_2(oacp: Oacp, words: tuple[str, ...]) -> None:
    assert oacp(*words).code == 2


@pytest.mark.parametrize("verb", ["setup", "session-init", "retention", "memory", "org-memory", "write-event"])
def test_a_verb_that_is_not_there_says_so_and_what_to_do_instead(oacp: Oacp, home: Path, verb: str) -> None:
    for words in ((verb,), (verb, "claude", "--json"), ("help", verb), (verb, "--help")):
        told = oacp(*words)
        assert (told.code, told.out) == (2, "")
        assert f"`oacp {verb}` is not there in Restante: " in told.err
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("words", [("--help",), ("send", "--help"), ("help", "watch"), ("trust", "--help")])
def test_help_is_there(oacp: Oacp, words: tuple[str, ...]) -> None:
    told = oacp(*words)
    assert (told.code, told.err) == (0, "")
    assert "usage" in told.out.lower()


def test_init_makes_a_project_once(oacp: Oacp, demo: Path, home: Path) -> None:
    again = oacp("init", "demo", "--json")
    assert again.code == 3
    assert again.json["error"] == "already_exists"
    assert (demo / "agents" / "codex" / "inbox" / "archive").is_dir()
    marker = json.loads((demo / "workspace.json").read_text())
    assert (marker["project_name"], marker["spec_version"]) == ("demo", "0.5.3")
    plan = oacp("init", "other", "--agents", "a", "--dry-run", "--json").json
    assert plan["can_apply"] is True
    assert not (home / "projects" / "other").exists()
    assert oacp("init", "../out").code == 2
    assert not (home / "out").exists()


def test_a_new_receiver_stops_at_more_than_the_published_words(demo: Path) -> None:
    policy = yaml.safe_load((demo / "agents" / "codex" / "config.yaml").read_text())
    assert policy["restante"] == {"strict": True}
    assert policy["autonomy"]["default_mode"] == "always_pause"


def test_an_agent_is_added_and_listed(oacp: Oacp, demo: Path, home: Path) -> None:
    told = oacp("agent", "add", "demo", "bob", "--runtime", "claude")
    assert told.code == 0, told.err
    assert (demo / "agents" / "bob" / "agent_card.yaml").is_file()
    before = {one: one.read_bytes() for one in demo.rglob("*") if one.is_file()}
    assert oacp("add-agent", "demo", "bob").code == 0
    assert {one: one.read_bytes() for one in demo.rglob("*") if one.is_file()} == before
    listed = oacp("agent", "list", "--project", "demo", "--json").json
    assert [one["agent"] for one in listed] == ["alice", "bob", "codex"]
    assert yaml.safe_load((home / "agents" / "bob" / "profile.yaml").read_text())["projects"] == ["demo"]
    assert oacp("init", "second", "--agents", "bob").code == 0
    profile = yaml.safe_load((home / "agents" / "bob" / "profile.yaml").read_text())
    assert sorted(profile["projects"]) == ["demo", "second"]
    assert oacp("agent", "add", "nope", "bob").code == 1


def test_a_message_stands_in_inbox_and_outbox(oacp: Oacp, demo: Path) -> None:
    report = sent(oacp)
    assert set(report) == {
        *("message_id", "from", "to", "type", "priority", "subject", "created_at_utc", "dry_run"),
        *("inbox_path", "outbox_path"),
    }
    inbox, outbox = Path(report["inbox_path"]), Path(report["outbox_path"])
    assert inbox.read_bytes() == outbox.read_bytes()
    assert inbox.parent == demo / "agents" / "codex" / "inbox"
    assert oacp("validate", inbox).out == f"OK: {inbox}\n"


def test_several_receivers_get_one_message(oacp: Oacp, demo: Path) -> None:
    oacp("agent", "add", "demo", "bob")
    told = oacp(*ASK[:4], "--to", "codex, bob", *ASK[6:], "--body", "b", "--json")
    report = told.json
    assert report["to"] == ["codex", "bob"]
    assert {Path(path).name for path in report["inbox_paths"]} == {Path(report["outbox_path"]).name}
    assert oacp(*ASK[:4], "--to", ",", *ASK[6:], "--body", "b").code == 2


def test_a_dry_run_writes_nothing(oacp: Oacp, demo: Path) -> None:
    told = oacp(*ASK, "--body", "b", "--dry-run")
    assert told.out.startswith("id: msg-")
    assert yaml.safe_load(oacp(*ASK, "--body", "b", "--dry-run", "--json").json["yaml"])["body"] == "b"
    assert list((demo / "agents" / "codex" / "inbox").glob("*.yaml")) == []


def test_the_body_comes_from_a_file_a_flag_or_standard_input(oacp: Oacp, tmp_path: Path, demo: Path) -> None:
    def body(*words: object, given: str = "") -> str:
        told = oacp(*ASK, *words, "--dry-run", "--json", given=given)
        assert told.code == 0, told.err
        text = yaml.safe_load(told.json["yaml"])["body"]
        assert isinstance(text, str)
        return text.strip()

    (tmp_path / "body.md").write_text("of the file")
    assert body("--body-file", tmp_path / "body.md", "--body", "of the flag") == "of the file"
    assert body("--body", "of the flag", given="of the stream") == "of the flag"
    assert body(given="of the stream") == "of the stream"
    assert body("--body-file", "-", given="of the stream") == "of the stream"
    assert oacp(*ASK, "--body-file", tmp_path / "nope").code == 2


def test_a_typing_mistake_makes_no_phantom(oacp: Oacp, demo: Path, home: Path) -> None:
    for words in (("send", "dmo"), ("send", "../../x"), ("send", "demo")):
        told = oacp(*words, "--from", "alice", "--to", "codx", *ASK[6:], "--body", "b", "--json")
        assert told.code in (1, 2)
        assert "error" in told.json
    assert sorted(os.listdir(home / "projects")) == ["demo"]
    assert sorted(os.listdir(demo / "agents")) == ["alice", "codex"]


@pytest.mark.parametrize("words", [("--expires", "99999999999d"), ("--expires", "soon"), ("--body-file", "/nowhere")])
def test_11_4_1_what_cannot_be_is_an_error_and_no_traceback(oacp: Oacp, demo: Path, words: tuple[str, str]) -> None:
    told = oacp(*ASK, "--body", "b", *words)
    assert told.code == 2
    assert "Traceback" not in told.err


def test_a_body_arrives_as_it_was_sent(oacp: Oacp, demo: Path) -> None:
    body = "    indented\n\ttab \u2028 \u0085 !tag {x: [1\n\n# no comment\n"
    report = sent(oacp, body=body)
    read = oacp("read", report["inbox_path"], "--project", "demo", "--receiver", "codex")
    assert read.json["message"]["body"] == body


def test_a_reply_keeps_the_thread_of_an_archived_message(oacp: Oacp, demo: Path) -> None:
    report = sent(oacp)
    path = Path(report["inbox_path"])
    path.rename(path.parent / "archive" / path.name)
    told = oacp(
        *("send", "demo", "--from", "codex", "--to", "alice", "--type", "notification", "--subject", "Re"),
        *("--body", "b", "--in-reply-to", report["message_id"], "--json"),
    )
    mine, theirs = (yaml.safe_load(Path(one).read_text()) for one in (told.json["inbox_path"], report["outbox_path"]))
    assert mine["conversation_id"] == theirs["conversation_id"]
    assert "warnings" not in told.json


def test_the_sender_is_told_by_the_environment(oacp: Oacp, demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = (*ASK[:2], *ASK[4:], "--body", "b", "--json")
    assert oacp(*words).code == 2
    monkeypatch.setenv("OACP_AGENT", "alice")
    assert oacp(*words).json["from"] == "alice"
    monkeypatch.delenv("OACP_AGENT")
    oacp("agent", "add", "demo", "helper", "--runtime", "claude")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert oacp(*words).json["from"] == "helper"


def test_11_4_2_the_inbox_is_listed_in_the_order_of_work_with_what_a_consumer_needs(oacp: Oacp, demo: Path) -> None:
    low, urgent = sent(oacp), sent(oacp, "--priority", "P0", "--expires", "1h")
    told = oacp("inbox", "demo", "--agent", "codex", "--json").json
    assert (told["project"], told["mode"]) == ("demo", "agent")
    (agent,) = told["agents"]
    assert agent["inbox_path"] == str(demo / "agents" / "codex" / "inbox")
    assert (agent["verify_mode"], agent["message_count"]) == ("off", 2)
    assert [one["path"] for one in agent["messages"]] == [urgent["inbox_path"], low["inbox_path"]]
    assert [one["id"] for one in agent["messages"]] == [urgent["message_id"], low["message_id"]]
    assert agent["messages"][0]["expires_at"]
    assert agent["messages"][0]["age"] == "0m"
    assert oacp("inbox", "demo", "--agent", "nobody", "--json").code == 1
    assert "No pending messages." in oacp("inbox", "demo", "--all").out


def test_of_held_mail_the_list_shows_that_there_is_some(oacp: Oacp, demo: Path) -> None:
    sent(oacp, body="secret")
    (demo / "agents" / "codex" / "config.yaml").write_text("signing: {verify_mode: enforce}\n")
    (agent,) = oacp("inbox", "demo", "--agent", "codex", "--json").json["agents"]
    (one,) = agent["messages"]
    assert (one["from"], one["subject"], one["auth"]) == ("?", "(held: unverified under enforce)", "unsigned")
    assert "id" not in one
    (event,) = [json.loads(line) for line in watch(oacp).out.splitlines()]
    assert (event["from"], event["subject"]) == ("?", "?")


def test_a_mode_that_is_none_holds_mail(oacp: Oacp, demo: Path) -> None:
    sent(oacp)
    (demo / "agents" / "codex" / "config.yaml").write_text("signing: {verify_mode: enforced}\n")
    (agent,) = oacp("inbox", "demo", "--agent", "codex", "--json").json["agents"]
    assert agent["verify_mode"] == "enforce"
    assert "enforced" in agent["policy_error"]
    assert agent["messages"][0]["from"] == "?"


def watch(oacp: Oacp, *words: str) -> Told:
    return oacp("watch", "--project", "demo", "--agent", "codex", "--since", "epoch", "--json", *words)


def test_watching_tells_what_is_new_once_for_each_cursor(oacp: Oacp, demo: Path) -> None:
    report = sent(oacp)
    (event,) = [json.loads(line) for line in watch(oacp).out.splitlines()]
    assert event == {
        "agent": "codex",
        "event": "new_message",
        "file": Path(report["inbox_path"]).name,
        "from": "alice",
        "priority": "P2",
        "project": "demo",
        "subject": "Which?",
        "type": "question",
    }
    assert watch(oacp).out == ""
    assert len(watch(oacp, "--state-id", "mine").out.splitlines()) == 1
    os.unlink(report["inbox_path"])
    assert "message_archived" in watch(oacp, "--show-archived").out
    assert watch(oacp, "--state-id", "../x").code == 2


def test_a_broken_message_is_reported_once(oacp: Oacp, demo: Path) -> None:
    (demo / "agents" / "codex" / "inbox" / "20261001000000_x_question_0001.yaml").write_text("{broken")
    first, second = watch(oacp), watch(oacp)
    assert first.code == 1
    assert json.loads(first.out)["event"] == "error"
    assert second.out == ""


def test_an_event_that_was_not_written_is_told_again(oacp: Oacp, demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from restante.faces.oacp import listing

    sent(oacp)
    write = listing._emit
    monkeypatch.setattr(listing, "_emit", lambda event, as_json: (_ for _ in ()).throw(BrokenPipeError))
    with pytest.MonkeyPatch.context() as context:
        context.setattr(os, "dup2", lambda *_: None)
        context.setattr(sys.stdout, "fileno", lambda: 1, raising=False)
        assert watch(oacp).code == 1
    monkeypatch.setattr(listing, "_emit", write)
    assert len(watch(oacp).out.splitlines()) == 1


def trusted(oacp: Oacp) -> dict[str, Any]:
    made = oacp("trust", "keygen", "--agent", "alice", "--json").json
    told = oacp("trust", "import", made["public_stub_path"], "--project", "demo", "--agent", "codex", "--json")
    assert (told.json["catalog"], told.json["pins"]) == ("added", "added")
    assert isinstance(made, dict)
    return made


def test_keys_are_made_believed_used_and_revoked(oacp: Oacp, demo: Path) -> None:
    made = trusted(oacp)
    assert [one["kid"] for one in oacp("key", "list", "--json").json] == [made["kid"]]
    report = sent(oacp, "--sign")
    assert (report["signed"], report["kids"]) == (True, [made["kid"]])
    who = ("--project", "demo", "--receiver", "codex")
    told = oacp("verify", report["inbox_path"], *who)
    assert (told.code, told.out.split()[:2]) == (0, ["[oacp-auth]", "signed-verified"])
    listed = oacp("trust", "list", "--project", "demo", "--json").json
    assert listed["pins"]["codex"][0]["status"] == "active"
    revoked = oacp("trust", "revoke", made["kid"], "--project", "demo", "--all-receivers", "--json")
    assert (revoked.code, revoked.json["revoked"]) == (0, ["codex"])
    assert oacp("verify", report["inbox_path"], *who).code == 3
    again = oacp("trust", "import", made["public_stub_path"], "--project", "demo", "--agent", "codex")
    assert again.code == 1
    Path(report["inbox_path"]).write_text(Path(report["inbox_path"]).read_text().replace("Which", "Witch"))
    told = oacp("verify", report["inbox_path"], *who, "--quarantine", "--json")
    assert told.code == 3


def test_the_name_of_a_key_may_begin_with_a_dash() -> None:
    kid = "-" + "a" * 42
    assert trusting._kid_first([kid, "--project", "p"]) == ["--project", "p", "--", kid]
    assert trusting._kid_first(["--project", "p", "a" * 43]) == ["--project", "p", "a" * 43]


def test_signing_without_a_key_sends_nothing(oacp: Oacp, demo: Path) -> None:
    told = oacp(*ASK, "--body", "b", "--sign", "--json")
    assert told.code == 1
    assert list((demo / "agents" / "codex" / "inbox").glob("*.yaml")) == []


def test_a_signed_policy_that_was_changed_holds_mail(oacp: Oacp, demo: Path) -> None:
    oacp("trust", "keygen", "--agent", "codex")
    told = oacp("trust", "sign-policy", "--project", "demo", "--agent", "codex", "--json")
    assert [one["verify_status"] for one in told.json] == ["verified"]
    config = demo / "agents" / "codex" / "config.yaml"
    config.write_text(config.read_text().replace("always_pause", "auto_review"))
    sent(oacp)
    (agent,) = oacp("inbox", "demo", "--agent", "codex", "--json").json["agents"]
    assert agent["policy_error"]
    assert oacp("doctor", "--project", "demo").code == 1


def test_the_doctor_finds_a_sound_tree_sound(oacp: Oacp, demo: Path, tmp_path: Path) -> None:
    told = oacp("doctor", "--project", "demo", "--json", "-o", tmp_path / "report.json")
    assert told.code == 0, told.out
    names = [one["name"] for one in told.json["categories"]]
    agents = ["Agent Registry", "Workspace", "Inbox Health", "Schemas", "Autonomy", "Agent Status"]
    assert names == ["Environment", *agents, "Trust Root"]
    assert json.loads((tmp_path / "report.json").read_text()) == told.json
    assert oacp("doctor", "--project", "nope").code == 1


def gated(oacp: Oacp, demo: Path, *words: str) -> tuple[Path, Told]:
    message = sent(oacp)["inbox_path"]
    agent = demo / "agents" / "codex"
    audits = agent / "audit" / "autonomy_decisions"
    told = oacp(
        *("gate", "--config", agent / "config.yaml", "--message", message, "--audit-dir", audits, *words),
    )
    assert told.code == 0, told.err
    (record,) = audits.glob("*.yaml")
    return record, told


def test_a_paused_message_is_decided_on_finalized_and_swept(oacp: Oacp, demo: Path) -> None:
    record, told = gated(oacp, demo)
    assert told.json["reason_codes"] == ["mode_always_pause"]
    written = yaml.safe_load(record.read_text())
    assert written["evaluation_id"] == told.json["evaluation_id"]
    assert record.stat().st_mode & 0o777 == 0o600
    answer = oacp("autonomy", "outcome", record, "--decision", "approved", "--actor", "kim", "--dry-run", "--json")
    assert answer.json["human_outcome"]["recorded"] is True
    assert yaml.safe_load(record.read_text()) == written
    assert oacp("autonomy-outcome", record, "--decision", "approved", "--actor", "kim").code == 0
    assert oacp("autonomy", "outcome", record, "--decision", "declined", "--actor", "kim").code == 2
    began = written["created_at_utc"]
    end = oacp(
        *("autonomy", "finalize", record, "--final-state", "done", "--started-at", began),
        *("--actual-files-touched", "1", "--json"),
    )
    assert (end.code, end.json["final_state"]) == (0, "done"), end.err
    swept = oacp("autonomy", "finalize", record.parent, "--validate", "--sweep", "--json")
    assert (swept.code, swept.json["records"]) == (0, {record.name: []})
    assert oacp("autonomy", "finalize", record, "--validate").out == "0 error finding(s)\n"


def test_a_review_request_gives_way_to_a_verified_one_of_its_thread(oacp: Oacp, demo: Path) -> None:
    trusted(oacp)
    agent = demo / "agents" / "codex"
    (agent / "config.yaml").write_text("autonomy: {default_mode: always_pause}\nsigning: {verify_mode: warn}\n")
    ask = (*ASK[:6], "--type", "review_request", "--subject", "s", "--related-pr", "7", "--body", "b", "--json")
    first = oacp(*ask, "--sign").json
    audits = agent / "audit" / "autonomy_decisions"
    oacp("gate", "--config", agent / "config.yaml", "--message", first["inbox_path"], "--audit-dir", audits)
    (record,) = audits.glob("*.yaml")
    reply = ("--parent-message-id", first["message_id"])
    thread = ("--conversation-id", yaml.safe_load(record.read_text())["conversation_id"])
    end = ("autonomy", "finalize", record, "--final-state", "superseded", "--superseded-by-message")
    for words in ((*reply, *thread), ("--sign", *reply)):
        assert oacp(*end, oacp(*ask, *words).json["inbox_path"]).code == 2
    second = oacp(*ask, "--sign", *reply, *thread).json
    assert oacp(*end, second["inbox_path"]).code == 0
    receipt = yaml.safe_load(record.read_text())["result"]["superseded_by_message"]
    assert (receipt["message_id"], receipt["supersedes_message_id"]) == (second["message_id"], first["message_id"])
    assert set(receipt) == {
        *("message_id", "message_sha256", "sender", "receiver", "conversation_id", "source_path"),
        *("supersedes_message_id", "disposition_at_utc"),
    }


def test_a_proof_is_attached_to_a_record_of_these_bytes_once(oacp: Oacp, demo: Path) -> None:
    record, _ = gated(oacp, demo)
    message = next((demo / "agents" / "codex" / "inbox").glob("*.yaml"))
    assert oacp("verify", message, "--attach-audit", record).code == 0
    assert yaml.safe_load(record.read_text())["result"]["message_auth"]["status"] == "unsigned"
    assert oacp("verify", message, "--attach-audit", record).code == 2


def test_the_gate_without_a_place_for_records_says_so(oacp: Oacp, demo: Path) -> None:
    message = sent(oacp)["inbox_path"]
    told = oacp("gate", "--config", demo / "agents" / "codex" / "config.yaml", "--message", message)
    assert told.code == 0
    assert "on no record" in told.err
    assert oacp("gate", "--config", "/nowhere", "--message", message).code == 2


def test_a_linked_message_is_followed_by_nobody(oacp: Oacp, demo: Path) -> None:
    message = Path(sent(oacp)["inbox_path"])
    link = message.with_name("20261001000000_alice_question_0001.yaml")
    message.rename(demo / "real.yaml")
    link.symlink_to(demo / "real.yaml")
    config = demo / "agents" / "codex" / "config.yaml"
    assert oacp("gate", "--config", config, "--message", link).code == 2
    assert oacp("read", link, "--project", "demo", "--receiver", "codex").code == 2
    assert "Which?" not in oacp("inbox", "demo", "--agent", "codex").out


def test_the_batch_of_verdicts_tells_what_could_not_be_read(oacp: Oacp, demo: Path) -> None:
    message = sent(oacp)["inbox_path"]
    told = oacp("verify", "--batch", given=f"{message}\n/nowhere\n")
    first, second = [json.loads(line) for line in told.out.splitlines()]
    assert (told.code, first["status"], first["path"]) == (0, "unsigned", message)
    assert (second["status"], second["read_error"], second["payload_sha256"]) == ("invalid", True, None)


def test_a_link_called_oacp_speaks_oacp(tmp_path: Path) -> None:
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "python").chmod(0o755)
    shutil.copy(ROOT / "scripts" / "restante", tmp_path / "restante")
    (tmp_path / "oacp").symlink_to("restante")
    done = subprocess.run([tmp_path / "oacp", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("oacp 0.5.4")


@pytest.mark.parametrize("words", ["inbox", "send --json hello", "status", "oacp --version"])
def test_other_commands_load_nothing_of_signed_mail(words: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    show = (
        f"import sys; sys.path[:0] = [{str(PACKAGE.parent)!r}]; sys.argv[1:] = {words.split()!r}\n"
        "from restante.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", show],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "RESTANTE_DATA": "/nowhere"},
    )
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "restante.faces" in loaded
    assert not {"yaml", "cryptography", "restante.autonomy", "restante.stores.oacp", "restante.intake"} & loaded


@pytest.mark.parametrize(
    "words",
    [
        ["oacp", "inbox", "demo", "--agent", "codex"],
        ["oacp", "verify", "some.yaml"],
        ["check-inbox", "--project", "demo", "--agent", "codex"],
        ["read", "some.yaml", "--project", "demo", "--agent", "codex"],
    ],
)
def test_without_the_extra_it_is_named_and_nothing_is_traced(demo: Path, words: list[str]) -> None:
    script = f"import sys; sys.modules['yaml'] = None; sys.argv = ['restante', *{words!r}]\n"
    script += "from restante.__main__ import main; main()"
    told = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert told.returncode not in (0, -6), told.stdout
    assert "restante[oacp]" in told.stderr
    assert "Traceback" not in told.stderr
