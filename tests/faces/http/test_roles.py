"""Teams and roles through the API: who holds one, who reads its mail, what anybody else is told."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from tests.faces.http.api import Background
from tests.faces.http.test_openapi import check

if TYPE_CHECKING:
    from tests.faces.http.api import Actor, Answer, Api

_teams = itertools.count(1)


class Team:
    """A team of one test's own."""

    def __init__(self, name: str) -> None:
        self.name = name

    def ask(self, actor: Actor | Api, method: str, path: str, body: object = None) -> Answer:
        """Ask about ``ROLE/...``, and hold the answer to its schema."""
        role, _, rest = path.partition("/")
        answer = actor.ask(method, f"/teams/{self.name}/{role}{f'/{rest}' if rest else ''}", body)
        check(answer, method, f"/teams/{{team}}/{{role}}{f'/{rest}' if rest else ''}".partition("?")[0])
        return answer

    def post(self, actor: Actor | Api, role: str, text: str, **more: Any) -> list[str]:
        answer = self.ask(actor, "POST", f"{role}/inbox", {"text": text, **more})
        assert answer.status == 200, answer
        return [copy["message"]["id"] for copy in answer.data["copies"]]


@pytest.fixture
def team(alice: Actor, bob: Actor) -> Team:
    """Alice holds the reviewer's role, bob the writer's."""
    made = Team(f"team{next(_teams)}")
    for actor, role in ((alice, "reviewer"), (bob, "writer")):
        assert made.ask(actor, "POST", f"{role}/join", {"workingDir": "/w"}).status == 200
    return made


def test_roles_are_listed_with_who_holds_them(api: Api, team: Team, alice: Actor) -> None:
    answer = api.ask("GET", f"/teams?team={team.name}")
    check(answer, "GET", "/teams")
    seats = {one["role"].partition("/")[2]: one for one in answer.data["roles"]}
    assert sorted(seats) == ["reviewer", "writer"]
    assert seats["reviewer"]["lease"]["session"] == alice.id
    assert (seats["reviewer"]["standing"], seats["reviewer"]["generation"]) == ("held", 1)
    assert team.ask(api, "GET", "reviewer").data == seats["reviewer"]
    assert api.ask("GET", "/teams?team=nobody").status == 404
    assert api.ask("GET", "/teams?team=a%20b").status == 400


def test_a_second_session_is_refused_with_who_holds_the_role(team: Team, alice: Actor, bob: Actor) -> None:
    for method, path, body in (
        ("POST", "reviewer/join", {}),
        ("POST", "reviewer/act-as", None),
        ("POST", "reviewer/leave", None),
        ("POST", "reviewer/drop", None),
        ("GET", "reviewer/inbox", None),
        ("POST", "reviewer/inbox/seen", {"ids": ["x"]}),
        ("POST", "reviewer/inbox/ack", {"ids": ["x"]}),
    ):
        answer = team.ask(bob, method, path, body)
        assert (answer.status, answer.document["code"]) == (409, "role_held"), path
        assert alice.id in answer.document["error"]
        assert answer.document["details"][0]["session"] == alice.id


def test_whoever_proves_nothing_reads_nothing_and_takes_nothing(api: Api, team: Team, alice: Actor) -> None:
    team.post(api, "reviewer", "text")
    for headers in ({}, {"X-Restante-Session": alice.id}):
        for method, path in (
            ("GET", "inbox"),
            ("POST", "act-as"),
            ("GET", "history"),
        ):
            answer = api.ask(method, f"/teams/{team.name}/reviewer/{path}", None, headers)
            assert answer.status in (403, 409), (headers, path)
    assert team.ask(api, "GET", "reviewer/tally").data == {"queued": 1, "noticed": 0, "seen": 0, "acknowledged": 0}


def test_reading_marks_nothing_and_each_step_is_told(team: Team, alice: Actor, bob: Actor) -> None:
    (message,) = team.post(bob, "reviewer", "text", subject="it")
    reading = team.ask(alice, "GET", "reviewer/inbox").data
    assert [one["text"] for one in reading["messages"]] == ["text"]
    assert (reading["messages"][0]["from"], reading["messages"][0]["fromVerified"]) == (bob.id, True)
    mail = alice.ask("GET", "/roles/mail")
    check(mail, "GET", "/roles/mail")
    assert mail.data["readings"] == [reading]
    places = alice.ask("GET", f"/roles/places?ids={message}")
    check(places, "GET", "/roles/places")
    assert places.data["places"] == {message: f"{team.name}/reviewer"}
    assert bob.ask("GET", f"/roles/places?ids={message}").data["places"] == {}
    refused = bob.ask("GET", f"/roles/places?ids={message}&refuse=1")
    assert refused.document["code"] == "role_held"
    for body, tally in (
        ({"ids": [message], "noticed": True}, "noticed"),
        ({"ids": [message]}, "seen"),
    ):
        assert team.ask(alice, "POST", "reviewer/inbox/seen", body).status == 200
        assert team.ask(alice, "GET", "reviewer/tally").data[tally] == 1
    assert (
        team.ask(alice, "POST", "reviewer/inbox/ack", {"through": message, "decision": "rejected"}).data["removed"] == 1
    )
    (trace,) = bob.ask("GET", f"/receipts?ids={message}").data["receipts"]
    assert (trace["to"], trace["state"], trace["decision"]) == (f"{team.name}/reviewer", "acknowledged", "rejected")


def test_a_post_to_a_team_is_a_copy_for_each_role_and_posted_once(api: Api, team: Team, bob: Actor) -> None:
    first = team.post(api, "*", "text", clientMessageId="mine")
    assert len(first) == 2
    assert team.post(api, "*", "text", clientMessageId="mine") == first
    assert len(team.post(bob, "*", "from bob")) == 1
    assert team.ask(api, "POST", "nobody/inbox", {"text": "x"}).status == 404
    assert team.ask(api, "POST", "*/inbox", {"text": " "}).status == 400


def test_history_is_told_to_a_session_as_far_as_it_concerns_it(team: Team, alice: Actor, bob: Actor) -> None:
    team.post(bob, "reviewer", "one")
    team.post(alice, "writer", "two")
    assert [one["text"] for one in team.ask(alice, "GET", "*/history").data["messages"]] == ["one", "two"]
    assert [one["text"] for one in team.ask(bob, "GET", "reviewer/history").data["messages"]] == ["one"]


def test_a_sender_takes_a_message_to_a_role_back(team: Team, bob: Actor) -> None:
    (message,) = team.post(bob, "reviewer", "text")
    assert bob.ask("POST", f"/receipts/{message}/withdraw").data["state"] == "withdrawn"


def test_a_role_is_handed_on_with_a_higher_generation(team: Team, alice: Actor, bob: Actor) -> None:
    (message,) = team.post(bob, "reviewer", "text")
    assert team.ask(alice, "POST", "reviewer/drop").data == {"released": alice.id, "automations": []}
    assert team.ask(alice, "POST", "reviewer/drop").data["released"] is None
    assert team.ask(bob, "POST", "reviewer/act-as").data["generation"] == 2
    refused = team.ask(alice, "POST", "reviewer/inbox/ack", {"ids": [message]})
    assert refused.document["code"] == "role_held"
    assert team.ask(bob, "POST", "reviewer/inbox/ack", {"ids": [message]}).data["removed"] == 1
    assert team.ask(bob, "POST", "reviewer/leave").data == {"left": True, "automations": []}
    assert team.ask(bob, "POST", "reviewer/leave").data["left"] is False


def test_a_session_that_ended_holds_nothing(team: Team, alice: Actor, bob: Actor) -> None:
    alice.ask("POST", f"/sessions/{alice.id}/detach")
    assert team.ask(bob, "GET", "reviewer").data["standing"] == "dead"
    assert team.ask(bob, "POST", "reviewer/act-as").status == 200


def test_the_rows_of_sessions_tell_the_mail_of_the_roles_that_they_hold(
    api: Api, team: Team, alice: Actor, bob: Actor
) -> None:
    role = f"{team.name}/reviewer"
    before = api.ask("GET", "/watch").data["cursor"]
    waits = Background(lambda: api.ask("GET", f"/watch?since={before}&wait=20000&sessions={alice.id}"))
    team.post(bob, "reviewer", "token-7f3a")
    watched = waits.result()
    check(watched, "GET", "/watch")
    (row,) = watched.data["sessions"]
    assert [(one["role"], one["pending"], one["unseen"]) for one in row["roles"]] == [(role, 1, 1)]
    assert (row["id"], row["inboxUnseen"]) == (alice.id, 0)
    summary = api.ask("GET", "/inbox/summary")
    check(summary, "GET", "/inbox/summary")
    assert [one["unseen"] for one in summary.data["sessions"][alice.id]["roles"]] == [1]
    assert "token-7f3a" not in repr((watched, summary))
