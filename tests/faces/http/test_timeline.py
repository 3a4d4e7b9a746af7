"""Looking back into a mailbox through a server: what the person is told, and that nobody else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.faces.http.api import Actor, Api, Running


def test_the_person_and_the_addressee_see_what_became_of_each_message(
    server: Running, api: Api, alice: Actor, bob: Actor
) -> None:
    first = bob.post(alice, "one").data["message"]["id"]
    bob.post(alice, "two")
    alice.ask("POST", f"/sessions/{alice.id}/inbox/ack", {"ids": [first], "decision": "accepted", "summary": "yes"})
    for headers in (server.person(), alice.proof):
        answer = api.ask("GET", f"/sessions/{alice.id}/timeline", headers=headers)
        assert answer.status == 200, answer
        assert [one["text"] for one in answer.data["messages"]] == ["two", "one"]
        assert answer.data["older"] == 0
        assert [one["decision"] for one in answer.data["messages"][1]["receipts"]] == ["accepted"]
    told = api.ask("GET", f"/sessions/{alice.id}/timeline?limit=1&show=all", headers=server.person()).data
    assert [one["text"] for one in told["messages"]] == ["two"]
    rest = api.ask("GET", f"/sessions/{alice.id}/timeline?before={told['older']}", headers=server.person()).data
    assert [one["text"] for one in rest["messages"]] == ["one"]
    unseen = api.ask("GET", f"/sessions/{alice.id}/timeline?show=unseen", headers=server.person()).data
    assert [one["text"] for one in unseen["messages"]] == ["two"]
    # It was looked at, and marked by nobody.
    assert alice.counts()["unseen"] == 1


def test_nobody_else_sees_it(api: Api, alice: Actor, bob: Actor) -> None:
    bob.post(alice, "between us")
    for headers in (bob.proof, {}):
        answer = api.ask("GET", f"/sessions/{alice.id}/timeline", headers=headers)
        assert answer.status == 403
        assert b"between us" not in answer.body


@pytest.mark.parametrize("query", ["show=none", "limit=0", "limit=201", "before=-1", "before=x"])
def test_what_cannot_be_meant_is_refused(server: Running, api: Api, alice: Actor, query: str) -> None:
    assert api.ask("GET", f"/sessions/{alice.id}/timeline?{query}", headers=server.person()).status == 400
