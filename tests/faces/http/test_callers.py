"""Who asks: every kind of caller against everything that depends on it."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.faces.http.api import Api, eventually

if TYPE_CHECKING:
    from tests.faces.http.api import Actor


class Kind(NamedTuple):
    """How a caller shows itself, and what that must come to."""

    is_addressee: bool
    label: str


# Of the caller's header: what is taken for the sender of a post, and whether it is the addressee.
KINDS = {
    "proven": Kind(True, "self"),
    "full id": Kind(True, "self (unverified)"),
    "8 characters": Kind(True, "self (unverified)"),
    "7 characters": Kind(False, "user (unverified)"),
    "other": Kind(False, "other (unverified)"),
    "other, proven": Kind(False, "other"),
    "wrong secret": Kind(False, "user (unverified)"),
    "ambiguous": Kind(False, "user (unverified)"),
    "detached": Kind(False, "user (unverified)"),
    "unknown": Kind(False, "user (unverified)"),
    "none": Kind(False, "user (unverified)"),
    "the person": Kind(False, "human"),
}


@pytest.fixture
def headers(api: Api, alice: Actor, bob: Actor, server: object, request: pytest.FixtureRequest) -> dict[str, str]:
    kind = request.param
    if kind == "ambiguous":
        beginning = secrets.token_hex(5)
        api.actor(id=beginning + "1111")
        api.actor(id=beginning + "2222")
        return {"X-Restante-Session": beginning}
    if kind == "detached":
        gone = api.actor()
        assert gone.ask("POST", f"/sessions/{gone.id}/detach").status == 200
        return {"X-Restante-Session": gone.id}
    person: dict[str, str] = server.person()  # type: ignore[attr-defined]
    return {
        "proven": alice.proof,
        "full id": {"X-Restante-Session": alice.id},
        "8 characters": {"X-Codeman-Parent-Session": alice.id[:8]},
        "7 characters": {"X-Restante-Session": alice.id[:7]},
        "other": {"X-Restante-Session": bob.id},
        "other, proven": bob.proof,
        "wrong secret": {"Authorization": "Bearer " + "0" * 64},
        "unknown": {"X-Restante-Session": "no-such-session-anywhere"},
        "none": {},
        "the person": person,
    }[kind]


@pytest.mark.parametrize(("headers", "kind"), KINDS.items(), indirect=["headers"], ids=list(KINDS))
def test_s07_reading_and_acknowledging_count_for_the_receiver_only(
    api: Api, alice: Actor, bob: Actor, headers: dict[str, str], kind: Kind
) -> None:
    message = bob.post(alice, "hello").data["message"]["id"]
    before = alice.counts()
    looked = api.ask("GET", f"/sessions/{alice.id}/inbox?wait=5000", headers=headers).data
    assert looked["peek"] is not kind.is_addressee
    assert [one["id"] for one in looked["messages"]] == [message]
    after = alice.counts()
    assert after == ({**before, "unseen": 0, "oldestUnseenAt": None} if kind.is_addressee else before)
    answer = api.ask("POST", f"/sessions/{alice.id}/inbox/ack", {"ids": [message]}, headers)
    assert answer.status == (200 if kind.is_addressee else 403)
    assert alice.counts()["pending"] == (0 if kind.is_addressee else 1)


@pytest.mark.parametrize(("headers", "kind"), KINDS.items(), indirect=["headers"], ids=list(KINDS))
def test_s27_s28_s30_the_sender_is_resolved_by_the_server(
    api: Api, alice: Actor, bob: Actor, headers: dict[str, str], kind: Kind
) -> None:
    to = api.actor()
    message = api.ask("POST", f"/sessions/{to.id}/inbox", {"text": "hello"}, headers).data["message"]
    name, _, mark = kind.label.partition(" ")
    session = {"self": alice.id, "other": bob.id}.get(name)
    assert message["from"] == session
    assert message["fromKind"] == ("session" if session else "user")
    assert message["fromVerified"] is not bool(mark)
    assert message["fromLabel"] == f"{session or name}{' ' if mark else ''}{mark}"
    # What anybody else but a proven person writes is no guidance.
    assert message["type"] == ("guidance" if name == "human" else "note")


def test_s28_a_claim_in_the_body_wins_over_the_header(api: Api, alice: Actor, bob: Actor) -> None:
    to = api.actor()
    body = {"text": "hello", "parentSessionId": alice.id[:8]}
    message = api.ask("POST", f"/sessions/{to.id}/inbox", body, {"X-Restante-Session": bob.id}).data["message"]
    assert message["from"] == alice.id
    message = api.ask("POST", f"/sessions/{to.id}/inbox", {**body, "parentSessionId": ""}, {}).data["message"]
    assert message["fromLabel"] == "user (unverified)"


def test_a_claim_that_names_nobody_raises_no_trust(api: Api, alice: Actor) -> None:
    for headers in ({"X-Restante-Session": "gone-gone-gone"}, {}):
        told = api.ask("GET", "/whoami", headers=headers).data
        assert (told["verified"], told["session"]) == (False, None)
    assert api.ask("GET", "/whoami", headers={"X-Restante-Session": "gone-gone"}).data["claimed"] == "gone-gone"
    assert alice.ask("GET", "/whoami").data == {"owner": "", "session": alice.id, "verified": True, "claimed": None}


def test_s32_an_unknown_receiver_is_404(api: Api) -> None:
    for method, path, body in (
        ("POST", "/sessions/nobody-here/inbox", {"text": "x"}),
        ("GET", "/sessions/nobody-here/inbox", None),
        ("GET", "/sessions/nobody-here/inbox?wait=1000", None),
        ("POST", "/sessions/nobody-here/inbox/ack", {"ids": ["x"]}),
        ("GET", "/sessions/nobody-here", None),
        ("GET", "/sessions/nobody-here/wait?until=exit", None),
        ("DELETE", "/sessions/nobody-here", None),
        ("POST", "/sessions/a%2Fb%00c/inbox", {"text": "x"}),
        ("GET", "/sessions/%ff%fe/inbox", None),
    ):
        answer = api.ask(method, path, body)
        assert (answer.status, answer.word) == (404, "NOT_FOUND"), (method, path)


def test_a_stranger_ends_and_describes_no_session(api: Api, alice: Actor, bob: Actor) -> None:
    for headers in ({}, bob.proof, {"X-Restante-Session": bob.id}):
        for method, path, body in (
            ("DELETE", "", None),
            ("DELETE", "?detach=1", None),
            ("PATCH", "", {"name": "mine"}),
            ("POST", "/turn", {"ended": True}),
            ("POST", "/detach", None),
        ):
            answer = api.ask(method, f"/sessions/{alice.id}{path}", body, headers)
            assert (answer.status, answer.word) == (403, "FORBIDDEN"), (method, path)
    assert alice.ask("GET", f"/sessions/{alice.id}").data["detachedAt"] is None


def test_registering_again_does_not_take_a_session_over(api: Api, alice: Actor) -> None:
    body = {"id": alice.id, "mode": "codex", "secretDigest": "0" * 64}
    api.ask("POST", "/sessions", body)
    assert alice.ask("GET", "/whoami").data["verified"] is True


def test_only_a_person_switches_persistence(api: Api, alice: Actor, server: object) -> None:
    for headers in ({}, alice.proof, {"X-Restante-Session": alice.id}):
        answer = api.ask("PUT", "/settings/persistence", {"on": True}, headers)
        assert (answer.status, answer.word) == (403, "FORBIDDEN")
    assert api.ask("GET", "/persistence").data["on"] is False


def test_seen_is_the_addressees_own_word(api: Api, alice: Actor, bob: Actor) -> None:
    message = bob.post(alice, "hello").data["message"]["id"]
    answer = bob.ask("POST", f"/sessions/{alice.id}/inbox/seen", {"ids": [message]})
    assert (answer.status, answer.word) == (403, "FORBIDDEN")
    assert (
        alice.ask("POST", f"/sessions/{alice.id}/inbox/seen", {"ids": [message], "noticed": True}).data["unseen"] == 1
    )
    assert alice.ask("POST", f"/sessions/{alice.id}/inbox/seen", {"ids": [message]}).data["unseen"] == 0
    eventually(lambda: alice.counts()["unseen"] == 0)
