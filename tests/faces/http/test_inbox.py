"""Posting, reading, acknowledging: what goes over the wire is what was agreed."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.faces.http.api import Actor, Api, Running


def ids_of(reading: Any) -> list[str]:
    return [one["id"] for one in reading["messages"]]


def test_s01_reading_deletes_nothing(alice: Actor, bob: Actor) -> None:
    bob.post(alice, "hello")
    first, second = alice.read(), alice.read()
    assert ids_of(first) == ids_of(second)
    assert [one["text"] for one in second["messages"]] == ["hello"]


def test_s02_a_read_by_the_receiver_turns_unseen_into_seen(alice: Actor, bob: Actor) -> None:
    bob.post(alice, "hello")
    assert (alice.counts()["pending"], alice.counts()["unseen"]) == (1, 1)
    alice.read()
    assert (alice.counts()["pending"], alice.counts()["unseen"]) == (1, 0)
    assert alice.read()["messages"][0]["seenAt"] is not None


def test_s03_only_an_acknowledgement_removes(alice: Actor, bob: Actor) -> None:
    message = bob.post(alice, "hello").data["message"]["id"]
    for _ in range(3):
        alice.read()
        bob.read(of=alice)
    assert alice.counts()["pending"] == 1
    alice.ack(message)
    assert alice.counts()["pending"] == 0
    assert alice.read()["messages"] == []


def test_s04_an_acknowledgement_is_a_post(alice: Actor) -> None:
    answer = alice.ask("GET", f"/sessions/{alice.id}/inbox/ack")
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert answer.word == "INVALID_INPUT"


def test_s05_acknowledging_removes_exactly_the_ids_named(alice: Actor, bob: Actor) -> None:
    one, two, three = (bob.post(alice, text).data["message"]["id"] for text in ("1", "2", "3"))
    answer = alice.ack(one, three).data
    assert (answer["removed"], answer["pending"], answer["unseen"]) == (2, 1, 1)
    assert ids_of(alice.read()) == [two]


def test_s06_acking_an_id_that_is_gone_is_a_success(alice: Actor, bob: Actor) -> None:
    message = bob.post(alice, "1").data["message"]["id"]
    assert alice.ack(message).data["removed"] == 1
    again = alice.ack(message, "msg_20260520T153000_01hzzzzzzzzzzzzzzzzzzzzzzz")
    assert (again.status, again.data["removed"]) == (200, 0)


def test_who_posted_takes_it_back_and_nobody_else(api: Any, alice: Actor, bob: Actor) -> None:
    message = bob.post(alice, "1").data["message"]["id"]
    path = f"/receipts/{message}/withdraw"
    assert alice.ask("POST", path).status == 404
    assert api.ask("POST", path, headers={"X-Restante-Session": bob.id}).status == 403
    answer = bob.ask("POST", path).data
    assert (answer["messageId"], answer["state"], answer["to"]) == (message, "withdrawn", alice.id)
    assert alice.counts()["pending"] == 0
    done = bob.post(alice, "2").data["message"]["id"]
    alice.ack(done)
    assert bob.ask("POST", f"/receipts/{done}/withdraw").status == 409


def test_ack_through_takes_what_is_older_and_spares_what_came_later(alice: Actor, bob: Actor) -> None:
    ids = [bob.post(alice, str(number)).data["message"]["id"] for number in range(4)]
    answer = alice.ask("POST", f"/sessions/{alice.id}/inbox/ack", {"through": ids[1]})
    assert answer.data["removed"] == 2
    assert ids_of(alice.read()) == ids[2:]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ids": []},
        {"ids": ["x"] * 201},
        {"ids": ["a"], "through": "b"},
        {"ids": "a"},
        {"ids": ["a"], "all": True},
        {"ids": ["a"], "decision": "maybe"},
    ],
)
def test_an_ack_that_names_nothing_or_too_much_is_400(alice: Actor, body: dict[str, Any]) -> None:
    answer = alice.ask("POST", f"/sessions/{alice.id}/inbox/ack", body)
    assert (answer.status, answer.word) == (400, "INVALID_INPUT")


def test_s08_a_look_by_anybody_else_changes_nothing(api: Api, alice: Actor, bob: Actor) -> None:
    bob.post(alice, "hello")
    before = alice.counts()
    for headers in (bob.proof, {}, {"X-Restante-Session": bob.id}, {"X-Restante-Session": "nobody-of-this-name"}):
        looked = api.ask("GET", f"/sessions/{alice.id}/inbox", headers=headers).data
        assert looked["peek"] is True
        assert [one["text"] for one in looked["messages"]] == ["hello"]
    assert alice.counts() == before
    mine = alice.read("?peek=1")
    assert mine["messages"][0]["seenAt"] is None
    assert alice.counts() == before


def test_s09_an_ack_by_anybody_else_is_403_and_removes_nothing(api: Api, alice: Actor, bob: Actor) -> None:
    message = bob.post(alice, "hello").data["message"]["id"]
    before = alice.counts()
    for headers in (bob.proof, {}, {"X-Restante-Session": bob.id}):
        answer = api.ask("POST", f"/sessions/{alice.id}/inbox/ack", {"ids": [message]}, headers)
        assert (answer.status, answer.word) == (403, "FORBIDDEN")
    assert alice.counts() == before


def test_s11_with_something_unseen_a_waiting_read_answers_at_once(alice: Actor, bob: Actor) -> None:
    bob.post(alice, "hello")
    reading = alice.read("?wait=600000")
    assert reading["timedOut"] is False
    assert reading["waitedMs"] < 1000
    assert [one["text"] for one in reading["messages"]] == ["hello"]


def test_s18_the_oldest_comes_first(alice: Actor, bob: Actor) -> None:
    ids = [bob.post(alice, str(number)).data["message"]["id"] for number in range(10)]
    assert ids_of(alice.read()) == ids
    assert [one["number"] for one in alice.read()["messages"]] == list(range(1, 11))


def test_paging_gives_no_more_than_was_asked_for_and_says_what_is_left(alice: Actor, bob: Actor) -> None:
    ids = [bob.post(alice, str(number)).data["message"]["id"] for number in range(5)]
    page = alice.read("?limit=2")
    assert (ids_of(page), page["leftOut"], page["truncated"]) == (ids[:2], 3, True)
    assert alice.counts()["unseen"] == 3
    page = alice.read(f"?limit=2&after={page['messages'][-1]['number']}")
    assert (ids_of(page), page["leftOut"]) == (ids[2:4], 1)
    page = alice.read(f"?limit=2&after={page['messages'][-1]['number']}")
    assert (ids_of(page), page["truncated"]) == (ids[4:], False)
    assert alice.counts() == {**alice.counts(), "pending": 5, "unseen": 0}


def test_s20_the_cap_of_a_message_counts_bytes(alice: Actor, bob: Actor) -> None:
    refused = bob.post(alice, "€" * 6000)
    assert (refused.status, refused.word) == (400, "INVALID_INPUT")
    assert "18,000" in refused.document["error"]
    assert bob.post(alice, "€" * 5461).status == 200
    assert bob.post(alice, "x" * 16_384).status == 200
    assert bob.post(alice, "x" * 16_385).status == 400


def test_s21_a_full_inbox_refuses_with_conflict_and_s22_drops_nothing(api: Api, alice: Actor) -> None:
    writers = [api.actor() for _ in range(3)]
    sent = []
    for writer in writers:
        for number in range(100):
            answer = writer.post(alice, str(number))
            if answer.status != 200:
                break
            sent.append(answer.data["message"]["id"])
    assert len(sent) == 200
    assert (answer.status, answer.word) == (409, "CONFLICT")
    assert ids_of(alice.read()) == sent
    # s24: as soon as there is room the same post succeeds.
    alice.ack(*sent[:100])
    assert writers[2].post(alice, "again").status == 200


def test_s20_the_cap_of_an_inbox_counts_bytes_too(api: Api, alice: Actor) -> None:
    writers = [api.actor() for _ in range(3)]
    statuses = [writer.post(alice, "€" * 5461).status for writer in writers for _ in range(25)]
    assert sum(status == 200 for status in statuses) * 16_383 <= 1_048_576
    assert set(statuses) == {200, 409}
    assert api.ask("GET", f"/sessions/{alice.id}/inbox").data["pending"] == statuses.count(200)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b'{"text": ""}',
        b'{"text": 5}',
        b'{"text": null}',
        b'{"text": "x", "from": "somebody"}',
        b'{"text": "x", "nudge": true}',
        b'{"text": "x", "priority": "urgent"}',
        b'{"text": "x", "expiresAt": 1.5}',
        b'{"text": "\xff"}',
        b'{"text": "x"} {}',
        b'\xef\xbb\xbf{"text": "x"}',
        b'{"text": ' + b"[" * 50_000,
        b"[" * 50_000,
        b'{"a":' * 10_000,
        b'{"text": "x", "expiresAt": 1e999}',
    ],
    ids=range(19),
)
def test_s23_a_malformed_post_is_400(api: Api, alice: Actor, raw: bytes) -> None:
    answer = api.ask("POST", f"/sessions/{alice.id}/inbox", raw=raw)
    assert (answer.status, answer.word) == (400, "INVALID_INPUT")
    assert api.ask("GET", "/health").status == 200


@pytest.mark.parametrize("text", [r"\ud800", r"abc\udfffdef", r"\ud800\u0041", r"\ud83d\ud83d\ude00"])
def test_a_lone_surrogate_is_400_and_says_so(api: Api, alice: Actor, text: str) -> None:
    answer = api.ask("POST", f"/sessions/{alice.id}/inbox", raw=b'{"text": "%s"}' % text.encode())
    assert (answer.status, answer.word) == (400, "INVALID_INPUT")
    assert "lone surrogate" in answer.document["error"]


@pytest.mark.parametrize(
    "text",
    [
        "a\x00b",
        "line\r\nline\n\ttab",
        "\x1b]52;c;Zm9v\x07\x1b[31mred",
        "\u202eevil\u2066",
        "👨‍👩‍👧 שלום",
        " leading and trailing ",
        "\ufeffbom",
        '{"json": [1, 2]}\\u0000',
    ],
)
def test_s26_text_comes_back_verbatim(alice: Actor, bob: Actor, text: str) -> None:
    assert bob.post(alice, text).data["message"]["text"] == text
    assert alice.read()["messages"][0]["text"] == text


def test_bl19_a_nul_is_kept_and_counted_by_bytes(alice: Actor, bob: Actor) -> None:
    refused = bob.post(alice, "ab\x00" + "x" * 20_000)
    assert (refused.status, "20,003" in refused.document["error"]) == (400, True)
    assert alice.read()["messages"] == []


def test_a_repeated_client_id_returns_the_stored_message(alice: Actor, bob: Actor) -> None:
    first = bob.post(alice, "once", clientMessageId="k1").data
    again = bob.post(alice, "once", clientMessageId="k1").data
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert again["message"]["id"] == first["message"]["id"]
    assert again["message"]["clientMessageId"] == "k1"
    assert alice.counts()["pending"] == 1
    other = bob.post(alice, "another text", clientMessageId="k1")
    assert (other.status, other.word) == (409, "CONFLICT")
    # It stays a repeat after the message was acknowledged.
    alice.ack(first["message"]["id"])
    assert bob.post(alice, "once", clientMessageId="k1").data["duplicate"] is True
    assert alice.counts()["pending"] == 0


def test_two_senders_may_use_the_same_client_id(api: Api, alice: Actor, bob: Actor) -> None:
    carol = api.actor()
    assert bob.post(alice, "of bob", clientMessageId="same").data["duplicate"] is False
    assert carol.post(alice, "of carol", clientMessageId="same").data["duplicate"] is False
    assert alice.counts()["pending"] == 2


def test_a_message_has_the_published_fields(alice: Actor, bob: Actor) -> None:
    before = time.time() * 1000
    data = bob.post(alice, "hello", subject="about", priority="high", conversation="c", parent="p").data
    message = data["message"]
    assert (message["from"], message["fromKind"], message["fromVerified"]) == (bob.id, "session", True)
    assert (message["subject"], message["priority"], message["conversation"]) == ("about", "high", "c")
    assert message["seenAt"] is None
    assert before - 1000 <= message["createdAt"] <= time.time() * 1000 + 1000
    assert abs(message["expiresAt"] - message["createdAt"] - 12 * 3600 * 1000) < 1000
    assert (data["pending"], data["unseen"]) == (1, 1)


def test_s33_receipts_tell_states_and_no_text(alice: Actor, bob: Actor) -> None:
    canary = secrets.token_hex(8)
    one, two, three = (bob.post(alice, f"{canary} {number}").data["message"]["id"] for number in range(3))
    alice.read("?limit=2")
    alice.ack(one)
    answer = bob.ask("GET", "/receipts")
    assert canary.encode() not in answer.body
    states = {trace["messageId"]: trace["state"] for trace in answer.data["receipts"]}
    assert states == {one: "acknowledged", two: "seen", three: "unseen"}
    only = bob.ask("GET", f"/receipts?ids={two},nobody").data["receipts"]
    assert [trace["messageId"] for trace in only] == [two]
    assert alice.ask("GET", "/receipts").data["receipts"] == []


def test_screening_stops_a_secret_with_422_and_names_the_finding(server: Running, alice: Actor, bob: Actor) -> None:
    token = "ghp_" + "0123456789abcdefABCDEF" + "0123456789abcd"
    answer = bob.post(alice, f"use {token} please")
    assert (answer.status, answer.word) == (422, "OPERATION_FAILED")
    assert answer.document["details"][0]["code"]
    assert token not in answer.body.decode()
    assert bob.post(alice, f"use {token} please", allowWarnings=True).status == 200
    assert token not in "".join(map(str, server.log))


@pytest.mark.parametrize("query", ["wait=0", "wait=30s", "wait=-1", "wait=1.5", "wait=", "wait=1_0", "wait=%D9%A1"])
def test_a_time_to_wait_that_is_no_positive_whole_number_is_400(alice: Actor, query: str) -> None:
    answer = alice.ask("GET", f"/sessions/{alice.id}/inbox?{query}")
    assert (answer.status, answer.word) == (400, "INVALID_INPUT")


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "after=-1", "peek=perhaps", "limit=1%00"])
def test_a_malformed_query_is_400(alice: Actor, query: str) -> None:
    assert alice.ask("GET", f"/sessions/{alice.id}/inbox?{query}").status == 400


def test_an_unknown_name_in_a_query_is_passed_over(alice: Actor) -> None:
    assert alice.ask("GET", f"/sessions/{alice.id}/inbox?nocache=1").status == 200
