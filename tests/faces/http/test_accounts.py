"""Multi-user mode: with the first account everything but a sign of life needs an owner, and owners never meet."""

from __future__ import annotations

import base64
import secrets
from typing import TYPE_CHECKING, Any

import pytest
from tests.faces.http.api import Actor, Api, Background, Running, eventually, running

if TYPE_CHECKING:
    from collections.abc import Iterator

ADA, BEN = ("ada", "a password of ada"), ("ben", "a password of ben")


def basic(name: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("data")) as one:
        for name, password in (ADA, BEN):
            answer = one.api().ask("POST", "/accounts", {"name": name, "password": password}, one.person())
            assert answer.data == {"name": name}
        yield one


def session_of(api: Api, account: tuple[str, str], **told: Any) -> Actor:
    import hashlib

    secret, session = secrets.token_hex(32), secrets.token_hex(16)
    digest = hashlib.sha256(secret.encode()).hexdigest()
    body = {"id": session, "mode": "codex", "secretDigest": digest, **told}
    assert api.ask("POST", "/sessions", body, basic(*account)).status == 200
    return Actor(api, body["id"], secret)


def test_everything_but_health_needs_an_owner(api: Api) -> None:
    assert api.ask("GET", "/health").status == 200
    for method, path, body in (
        ("GET", "/sessions", None),
        ("POST", "/sessions", {"id": "abcdefgh"}),
        ("GET", "/inbox/summary", None),
        ("GET", "/watch", None),
        ("GET", "/events", None),
        ("GET", "/metrics", None),
        ("GET", "/openapi.json", None),
        ("GET", "/receipts", None),
        ("GET", "/whoami", None),
        ("GET", "/accounts", None),
        ("GET", "/persistence", None),
        ("GET", "/sessions/x/inbox", None),
    ):
        for headers in ({}, {"X-Restante-Session": "abcdefgh"}, {"Authorization": "Bearer " + "0" * 64}):
            answer = api.ask(method, path, body, headers)
            assert (answer.status, answer.word) == (401, "UNAUTHORIZED"), (path, headers)
            assert answer.headers["www-authenticate"].startswith("Basic")


def test_an_owner_sees_its_own_and_a_foreign_session_is_an_unknown_one(api: Api) -> None:
    alice, mallory = session_of(api, ADA, name="builder"), session_of(api, BEN, name="builder")
    canary = "canary" + secrets.token_hex(8)
    helper = session_of(api, ADA)
    assert helper.post(alice, canary).status == 200
    unknown = mallory.ask("GET", "/sessions/nobody-of-this-id/inbox").document
    for headers in (mallory.proof, basic(*BEN)):
        for method, path, body in (
            ("GET", "", None),
            ("GET", "/inbox", None),
            ("GET", "/inbox?wait=1000", None),
            ("POST", "/inbox", {"text": "x"}),
            ("POST", "/inbox/ack", {"ids": ["x"]}),
            ("GET", "/wait?until=exit", None),
            ("DELETE", "", None),
        ):
            answer = api.ask(method, f"/sessions/{alice.id}{path}", body, headers)
            assert (answer.status, answer.word) == (404, "NOT_FOUND"), path
            assert answer.document["error"].replace(alice.id, "nobody-of-this-id") == unknown["error"]
    # s37: no answer about others has a word or an id of it.
    for path in ("/inbox/summary", "/sessions?inbox=1", "/watch", "/receipts"):
        told = mallory.ask("GET", path).body.decode()
        assert alice.id not in told
        assert canary not in told
    assert mallory.ask("GET", f"/watch?sessions={alice.id}").data["gone"] == [alice.id]


def test_s27_a_session_of_another_owner_is_no_sender(api: Api) -> None:
    alice, mallory = session_of(api, ADA), session_of(api, BEN)
    headers = {**basic(*ADA), "X-Restante-Session": mallory.id}
    message = api.ask("POST", f"/sessions/{alice.id}/inbox", {"text": "x"}, headers).data["message"]
    assert (message["from"], message["fromKind"], message["fromVerified"]) == (None, "user", False)
    own = session_of(api, ADA)
    headers = {**basic(*ADA), "X-Restante-Session": own.id}
    message = api.ask("POST", f"/sessions/{alice.id}/inbox", {"text": "x"}, headers).data["message"]
    assert (message["from"], message["fromVerified"]) == (own.id, False)


def test_the_numbers_of_all_owners_are_for_the_person_with_the_token(api: Api, server: Running) -> None:
    alice = session_of(api, ADA)
    for headers in (alice.proof, basic(*ADA)):
        assert api.ask("GET", "/metrics", headers=headers).status == 403
    assert alice.id not in api.ask("GET", "/metrics", headers=server.person()).body.decode()


def test_s26_what_an_owner_posts_by_its_password_is_from_a_person_and_proven(api: Api) -> None:
    alice = session_of(api, ADA)
    message = api.ask("POST", f"/sessions/{alice.id}/inbox", {"text": "x"}, basic(*ADA)).data["message"]
    assert (message["from"], message["fromKind"], message["fromVerified"]) == (None, "user", True)
    assert alice.read()["messages"][0]["fromLabel"] == "human"
    # Whoever claims to be a session beside it is no person, proven or not.
    for claimed in (alice.id, "no-such-session"):
        told = api.ask("GET", "/whoami", headers={**basic(*ADA), "X-Restante-Session": claimed}).data
        assert told["verified"] is False
    # It proves one owner, and not the person whose server this is.
    assert api.ask("PUT", "/persistence", {"on": True}, basic(*ADA)).status == 403


def test_a_post_to_one_owner_wakes_no_watch_of_another(api: Api, server: Running) -> None:
    alice, mallory = session_of(api, ADA), session_of(api, BEN)
    cursor = mallory.ask("GET", "/watch").data["cursor"]
    waiter = Background(lambda: mallory.ask("GET", f"/watch?since={cursor}&wait=1500").data)
    eventually(lambda: "restante_parked 1.0" in api.ask("GET", "/metrics", headers=server.person()).body.decode())
    session_of(api, ADA).post(alice, "x")
    assert waiter.result()["timedOut"] is True


def test_a_session_of_another_owner_cannot_be_registered_over(api: Api) -> None:
    alice = session_of(api, ADA)
    answer = api.ask("POST", "/sessions", {"id": alice.id}, basic(*BEN))
    assert (answer.status, answer.word) == (404, "NOT_FOUND")
    assert alice.ask("GET", "/whoami").data["owner"] == "ada"


def test_only_the_person_with_the_token_manages_accounts(api: Api, server: Running) -> None:
    alice = session_of(api, ADA)
    for headers in (alice.proof, basic(*ADA)):
        assert api.ask("GET", "/accounts", headers=headers).status == 403
        body = {"name": "eve", "password": "a long password"}
        assert api.ask("POST", "/accounts", body, headers).status == 403
        assert api.ask("DELETE", "/accounts/ben", headers=headers).status == 403
    names = [one["name"] for one in api.ask("GET", "/accounts", headers=server.person()).data["accounts"]]
    assert names == ["ada", "ben"]


@pytest.mark.parametrize(
    ("name", "password"),
    [("Ada", "x" * 12), ("", "x" * 12), ("a b", "x" * 12), ("new", "short"), ("x" * 65, "x" * 12), ("new", "x" * 2000)],
)
def test_a_name_or_password_that_is_none_is_400(api: Api, server: Running, name: str, password: str) -> None:
    answer = api.ask("POST", "/accounts", {"name": name, "password": password}, server.person())
    assert (answer.status, answer.word) == (400, "INVALID_INPUT")


def test_an_account_comes_once_and_goes(api: Api, server: Running) -> None:
    body = {"name": "carol", "password": "a password of carol"}
    assert api.ask("POST", "/accounts", body, server.person()).status == 200
    again = api.ask("POST", "/accounts", body, server.person())
    assert (again.status, again.word) == (409, "CONFLICT")
    assert api.ask("GET", "/whoami", headers=basic("carol", body["password"])).data["owner"] == "carol"
    assert api.ask("DELETE", "/accounts/carol", headers=server.person()).status == 200
    assert api.ask("GET", "/whoami", headers=basic("carol", body["password"])).status == 401
    assert api.ask("DELETE", "/accounts/carol", headers=server.person()).status == 404


def test_with_an_account_the_secrets_of_its_sessions_go_and_its_mail_is_looked_after(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    eve = ("eve", "a password of eve")
    with running(tmp_path_factory.mktemp("data")) as server:
        api = server.api()
        for name, password in (ADA, eve):
            api.ask("POST", "/accounts", {"name": name, "password": password}, server.person())
        first, second = session_of(api, eve), session_of(api, eve)
        assert first.post(second, "x").status == 200
        waiter = Background(lambda: second.ask("GET", f"/sessions/{first.id}/inbox?wait=60000"))
        eventually(lambda: "restante_parked 1.0" in api.ask("GET", "/metrics", headers=server.person()).body.decode())
        assert api.ask("DELETE", "/accounts/eve", headers=server.person()).status == 200
        for path in ("/whoami", "/sessions", "/watch", f"/sessions/{second.id}/inbox", "/events"):
            answer = second.ask("GET", path)
            assert (answer.status, answer.word) == (401, "UNAUTHORIZED"), path
        assert first.post(second, "y").status == 401
        session_of(api, ADA)
        told = api.ask("GET", "/metrics", headers=server.person()).body.decode()
        assert "restante_pending_messages 1.0" in told
        # With the last account, too, what is left of them belongs to nobody who asks.
        assert api.ask("DELETE", "/accounts/ada", headers=server.person()).status == 200
        assert second.ask("GET", "/whoami").status == 401
        # Whoever waits is freed with the next thing that happens, and told the same.
        again = {"name": eve[0], "password": eve[1]}
        assert api.ask("POST", "/accounts", again, server.person()).status == 200
        assert second.ask("GET", "/whoami").data["owner"] == "eve"
        assert second.post(first, "z").status == 200
        assert waiter.result().status == 200


@pytest.mark.parametrize("header", ["Basic", "Basic !!!", "Basic YWRh", "Basic //8=", "Digest x", "Bearer", "Bearer é"])
def test_a_malformed_proof_is_401(api: Api, header: str) -> None:
    answer = api.ask("GET", "/sessions", headers={"Authorization": header})
    assert (answer.status, answer.word) == (401, "UNAUTHORIZED")


def test_no_password_is_kept_or_logged(api: Api, server: Running) -> None:
    api.ask("GET", "/sessions", headers=basic(*ADA))
    for one in server.data.rglob("*"):
        if one.is_file():
            assert ADA[1].encode() not in one.read_bytes()
    assert ADA[1] not in str(server.log)


def test_wrong_passwords_are_counted_for_each_account_and_address(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running(tmp_path_factory.mktemp("data")) as server:
        api = server.api()
        for name, password in (ADA, BEN):
            api.ask("POST", "/accounts", {"name": name, "password": password}, server.person())
        # Who proved itself a moment ago is not shut out by others who guess.
        assert api.ask("GET", "/whoami", headers=basic(*BEN)).status == 200
        statuses = [api.ask("GET", "/whoami", headers=basic("ada", f"wrong {n}")).status for n in range(12)]
        assert statuses == [401] * 10 + [429] * 2
        limited = api.ask("GET", "/whoami", headers=basic(*ADA))
        assert (limited.status, limited.word) == (429, "RATE_LIMITED")
        assert 1 <= int(limited.headers["retry-after"]) <= 90
        assert api.ask("GET", "/whoami", headers=basic(*BEN)).status == 200
        # An unknown name counts, too, and looks the same.
        assert api.ask("GET", "/whoami", headers=basic("nobody", "wrong")).status == 429
        # A secret needs no password.
        assert api.ask("GET", "/whoami", headers=server.person()).status == 200
