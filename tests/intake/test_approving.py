"""One queue of what waits for a person, and decisions that stand in the audit record with how long they took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jsonschema
import pytest
from tests.autonomy.fixtures import HARMLESS

from restante.autonomy.vocabulary import REASON_CODES, STRICT_CODES
from restante.autonomy.wording import in_words
from restante.faces.cli.intake_schemas import INTAKE_SCHEMAS
from restante.wiring.intake import open_intake

if TYPE_CHECKING:
    from typing import Any

    from tests.inboxes import Inboxes, Told

SCOPE: dict[str, Any] = {
    "allowed_types": ["task_request"],
    "max_round": 3,
    "expires_at_utc": "2099-01-01T00:00:00Z",
    "max_actual_minutes": 30,
    "max_actual_files_touched": 3,
}
ASKING = {**HARMLESS, "continuation_grants": {"approved_thread_continuation": {"scope": SCOPE}}}


def queue(inboxes: Inboxes, *words: str) -> list[dict[str, Any]]:
    told = inboxes.run("approvals", "--project", "demo", "--json", *words)
    jsonschema.Draft202012Validator(INTAKE_SCHEMAS["approvals"]).validate(told.json)
    found = told.json["approvals"]
    assert isinstance(found, list)
    return found


def decide(inboxes: Inboxes, *words: str) -> Told:
    return inboxes.run(*words, "--project", "demo", "--actor", "kim", "--json")


def test_nothing_waits_at_first(inboxes: Inboxes) -> None:
    assert queue(inboxes) == []
    assert inboxes.run("approvals", "--project", "demo").out == "nothing waits for you\n"


def test_what_waits_is_listed_with_its_reasons_in_words(inboxes: Inboxes) -> None:
    inboxes.policy()
    inboxes.send("question", "Which one is it?", subject="\x1b[31mWhich")
    inboxes.task("Drop it.", {**HARMLESS, "estimated_minutes": 90})
    inboxes.drain()
    first, second = sorted(queue(inboxes), key=lambda one: str(one["type"]), reverse=True)
    assert (first["from"], first["type"], first["agent"], first["stage"]) == (
        "alice",
        "task_request",
        "codex",
        "admission",
    )
    assert first["reasons"][0]["meaning"] == "it is estimated to take longer than your policy allows"
    assert second["reasons"][0]["code"] == "task_profile_missing"
    text = inboxes.run("approvals", "--project", "demo").out
    assert "because it is estimated to take longer than your policy allows" in text
    assert "\x1b" not in text


def test_a_decision_and_its_latency_stand_in_the_record(inboxes: Inboxes, monkeypatch: pytest.MonkeyPatch) -> None:
    inboxes.task()
    inboxes.drain()
    (one,) = queue(inboxes)
    monkeypatch.setenv("RESTANTE_NOW", one["since"].replace("T", "T")[:10] + "T23:59:59.500Z")
    told = decide(inboxes, "approve", one["message_id"])
    jsonschema.Draft202012Validator(INTAKE_SCHEMAS["approve"]).validate(told.json)
    outcome = inboxes.records()[0]["result"]["human_outcome"]
    assert (outcome["decision"], outcome["actor"], outcome["recorded"]) == ("approved", "kim", True)
    assert outcome["decision_latency_seconds"] == told.json["latency_seconds"] > 0
    assert queue(inboxes) == []


def test_a_decision_is_taken_once(inboxes: Inboxes) -> None:
    inboxes.task()
    inboxes.drain()
    name = queue(inboxes)[0]["message_id"]
    assert decide(inboxes, "decline", name, "--note", "No.").code == 0
    assert decide(inboxes, "approve", name).code == 3
    assert inboxes.records()[0]["result"]["human_outcome"]["decision"] == "declined"


def test_declined_work_goes_in_the_next_round(inboxes: Inboxes) -> None:
    name = inboxes.task()
    inboxes.drain()
    decide(inboxes, "decline", queue(inboxes)[0]["message_id"])
    assert inboxes.names() == [name]
    inboxes.drain({"choice": "reply", "reply": "Declined."})
    assert inboxes.names() == []
    assert len(inboxes.replies()) == 1


def test_a_change_needs_its_note(inboxes: Inboxes) -> None:
    inboxes.task()
    inboxes.drain()
    name = queue(inboxes)[0]["message_id"]
    assert decide(inboxes, "modify", name).code == 2
    assert decide(inboxes, "modify", name, "--note", "only the tests").code == 0
    assert inboxes.records()[0]["result"]["human_outcome"]["modification"] == {"note": "only the tests"}


def test_a_grant_is_never_inferred_from_an_approval(inboxes: Inboxes) -> None:
    inboxes.policy()
    inboxes.task("Run rm -rf build.", ASKING)
    inboxes.drain()
    (one,) = queue(inboxes)
    assert one["asks_grant"] is True
    decide(inboxes, "approve", one["message_id"])
    grant = inboxes.records()[0]["result"]["human_outcome"]["grant"]
    assert (grant["decision"], grant["granted_scope"]) == ("denied", None)


def test_a_grant_is_given_when_it_is_said(inboxes: Inboxes) -> None:
    inboxes.policy()
    inboxes.task("Run rm -rf build.", ASKING)
    inboxes.drain()
    decide(inboxes, "approve", queue(inboxes)[0]["message_id"], "--grant", "approved")
    grant = inboxes.records()[0]["result"]["human_outcome"]["grant"]
    assert grant["decision"] == "approved"
    assert grant["granted_scope"]["max_round"] == 3


def test_a_name_that_several_have_decides_nothing(inboxes: Inboxes) -> None:
    inboxes.task()
    inboxes.task()
    inboxes.drain()
    names = [one["message_id"] for one in queue(inboxes)]
    told = decide(inboxes, "approve", names[0][:8])
    assert told.code == 3
    assert len(queue(inboxes)) == 2
    # The end of an id is enough where only it has it.
    assert decide(inboxes, "approve", names[0][-12:]).json["message_id"] == names[0]


def test_only_the_named_agent_is_listed(inboxes: Inboxes) -> None:
    inboxes.task()
    inboxes.drain()
    assert queue(inboxes, "--agent", "alice") == []
    assert len(queue(inboxes, "--agent", "codex")) == 1


def test_11_3_7_an_approved_message_that_comes_again_is_a_replay(inboxes: Inboxes) -> None:
    name = inboxes.task()
    inboxes.policy()
    (inboxes.agents / "codex" / "config.yaml").write_text("autonomy: {default_mode: always_pause}\n")
    inboxes.drain()
    decide(inboxes, "approve", queue(inboxes)[0]["message_id"])
    inboxes.policy()
    for record in (inboxes.agents / "codex" / "audit" / "autonomy_decisions").glob("*.yaml"):
        record.unlink()
    intake = open_intake("demo", "codex", home=str(inboxes.home))
    gated = intake.gate(intake.read(name))
    assert gated.is_replay
    assert gated.reasons == ["message_replayed"]


@pytest.mark.parametrize("code", sorted(REASON_CODES | set(STRICT_CODES)))
def test_every_reason_has_words(code: str) -> None:
    assert "_" not in in_words(code)
