"""Summary, lists and watch: numbers and no text; no change is missed, whatever comes between two calls."""

from __future__ import annotations

import random
import secrets
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.faces.http.api import Background, eventually, running

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.http.api import Actor, Api, Running


def watch(actor: Actor, cursor: str = "", **query: object) -> Any:
    words = "&".join(f"{name}={value}" for name, value in {"since": cursor, **query}.items())
    return actor.ask("GET", f"/watch?{words}").data


def ids_of(watched: Any) -> list[str]:
    return [row["id"] for row in watched["sessions"]]


def test_s35_s40_the_summary_tells_pending_unseen_and_the_oldest(alice: Actor, bob: Actor) -> None:
    assert bob.counts(alice) == {
        "pending": 0,
        "unseen": 0,
        "oldestUnseenAt": None,
        "parked": False,
        "parkedSince": None,
    }
    first = bob.post(alice, "1").data["message"]
    second = bob.post(alice, "2").data["message"]
    assert bob.counts(alice)["oldestUnseenAt"] == first["createdAt"]
    alice.ack(first["id"])
    assert bob.counts(alice)["oldestUnseenAt"] == second["createdAt"]
    alice.read()
    assert bob.counts(alice) == {**bob.counts(alice), "pending": 1, "unseen": 0, "oldestUnseenAt": None}


def test_s35_the_older_path_answers_the_same(alice: Actor) -> None:
    assert alice.ask("GET", "/agent-inbox/summary").data == alice.ask("GET", "/inbox/summary").data
    assert alice.ask("GET", "/api/agent-inbox/summary").data == alice.ask("GET", "/inbox/summary").data


def test_s36_no_answer_but_a_read_has_any_text(server: Running, alice: Actor, bob: Actor) -> None:
    canary = "canary" + secrets.token_hex(8)
    bob.post(alice, canary, subject=canary, conversation=canary)
    for path in (
        "/inbox/summary",
        "/sessions",
        "/sessions?inbox=1",
        f"/sessions/{alice.id}?inbox=1",
        "/watch",
        "/agent-watch",
        "/receipts",
        "/metrics",
        f"/sessions/{alice.id}/wait?until=inbox",
    ):
        answer = bob.ask("GET", path)
        assert answer.status == 200, path
        assert canary.encode() not in answer.body, path
    assert canary in alice.ask("GET", f"/sessions/{alice.id}/inbox").body.decode()
    assert canary not in str(server.log)


def test_s38_a_post_changes_nothing_in_list_or_detail(alice: Actor, bob: Actor) -> None:
    paths = ("/sessions", f"/sessions/{alice.id}")
    before = [bob.ask("GET", path).body for path in paths]
    bob.post(alice, "hello")
    alice.read()
    assert [bob.ask("GET", path).body for path in paths] == before


def test_a_list_is_never_stale(api: Api, server: Running, alice: Actor) -> None:
    for _ in range(20):
        new = api.actor()
        assert new.id in [one["id"] for one in alice.ask("GET", "/sessions").data["sessions"]]
        assert api.ask("DELETE", f"/sessions/{new.id}", headers=server.person()).status == 200
        assert new.id not in [one["id"] for one in alice.ask("GET", "/sessions").data["sessions"]]


def test_s39_the_list_with_inboxes_is_one_consistent_look(alice: Actor, bob: Actor) -> None:
    bob.post(alice, "hello")
    row = next(one for one in bob.ask("GET", "/sessions?inbox=1").data["sessions"] if one["id"] == alice.id)
    assert (row["inboxPending"], row["inboxUnseen"], row["parked"]) == (1, 1, False)


def test_s59_every_turn_end_since_a_cursor_is_told(alice: Actor, bob: Actor) -> None:
    cursor = watch(bob)["cursor"]
    alice.ask("POST", f"/sessions/{alice.id}/turn", {"ended": True})
    told = watch(bob, cursor)
    row = next(one for one in told["sessions"] if one["id"] == alice.id)
    assert (row["turn"], row["turnEndSource"], row["reason"]) == (1, "hook", "done")
    assert row["turnEndedAt"] is not None
    assert told["timedOut"] is False
    # The same cursor tells it again, the next one does not.
    assert alice.id in ids_of(watch(bob, cursor))
    assert alice.id not in ids_of(watch(bob, told["cursor"]))


def test_s60_the_reasons_and_their_precedence(api: Api, alice: Actor, bob: Actor) -> None:
    def reason() -> str | None:
        told = watch(bob, sessions=alice.id)["sessions"][0]["reason"]
        assert told is None or isinstance(told, str)
        return told

    turn = f"/sessions/{alice.id}/turn"
    alice.ask("POST", turn, {"ended": False})
    assert reason() is None
    alice.ask("POST", turn, {"ended": True})
    assert reason() == "done"
    alice.ask("PATCH", f"/sessions/{alice.id}", {"openTodos": 2, "totalTodos": 3})
    assert reason() == "open-todos"
    message = bob.post(alice, "x").data["message"]["id"]
    assert reason() == "inbox-unread"
    alice.read()
    assert reason() == "inbox-unacked"
    waiter = Background(lambda: alice.read("?wait=30000"))
    eventually(lambda: reason() == "waiting-inbox")
    alice.ask("PATCH", f"/sessions/{alice.id}", {"blocked": "permission"})
    assert reason() == "blocked"
    alice.ask("DELETE", f"/sessions/{alice.id}?detach=1")
    assert reason() == "exited"
    waiter.result()
    alice.ack(message)


def test_s58_nothing_between_two_calls_is_lost(api: Api, alice: Actor, bob: Actor) -> None:
    cursor = watch(bob)["cursor"]
    for number in range(1, 6):
        alice.ask("POST", f"/sessions/{alice.id}/turn", {"ended": True})
        told = watch(bob, cursor, wait=20_000)
        cursor = told["cursor"]
        assert next(row for row in told["sessions"] if row["id"] == alice.id)["turn"] == number


def test_s61_a_parked_watch_is_answered_when_a_turn_ends(api: Api, alice: Actor, bob: Actor) -> None:
    cursor = watch(bob)["cursor"]
    waiter = Background(lambda: watch(bob, cursor, wait=60_000, sessions=alice.id))
    eventually(lambda: api.metric("restante_parked") == 1)
    began = time.monotonic()
    alice.ask("POST", f"/sessions/{alice.id}/turn", {"ended": True})
    told = waiter.result()
    assert ids_of(told) == [alice.id]
    assert time.monotonic() - began < 5


def test_s61_a_parked_watch_is_answered_when_a_hook_leaves_its_sign(
    server: Running, api: Api, alice: Actor, bob: Actor
) -> None:
    cursor = watch(bob)["cursor"]
    waiter = Background(lambda: watch(bob, cursor, wait=60_000, sessions=alice.id))
    eventually(lambda: api.metric("restante_parked") == 1)
    with open(server.data / "turns" / alice.id, "ab") as file:
        file.write(b"e\n")
    row = waiter.result()["sessions"][0]
    assert (row["id"], row["status"], row["turnEndSource"]) == (alice.id, "idle", "hook")


def test_bl55_a_timeout_carries_a_cursor_that_misses_nothing(alice: Actor, bob: Actor) -> None:
    cursor = watch(bob)["cursor"]
    told = watch(bob, cursor, wait=1000, sessions=alice.id)
    assert (told["timedOut"], told["sessions"]) == (True, [])
    bob.post(alice, "m1")
    assert ids_of(watch(bob, told["cursor"])) == [alice.id]


def test_bl55_of_posts_at_random_instants_none_is_missed(alice: Actor, bob: Actor) -> None:
    posted = 60
    stop = threading.Event()

    def write() -> None:
        chance = random.Random(5)
        for number in range(posted):
            time.sleep(chance.random() / 50)
            bob.post(alice, str(number))
        stop.set()

    cursor = watch(bob)["cursor"]
    writer = threading.Thread(target=write)
    writer.start()
    most = 0
    while most < posted:
        told = watch(bob, cursor, wait=5000, sessions=alice.id)
        assert told["sessions"] or not stop.is_set(), "the last post was never told"
        cursor = told["cursor"]
        most = max([most, *(row["inboxHighWater"] for row in told["sessions"])])
    writer.join()


def test_bl55_ones_own_posts_move_nothing_of_ones_own_mail(alice: Actor, bob: Actor) -> None:
    bob.post(alice, "m1")
    alice.post(bob, "an answer")
    assert alice.counts()["unseen"] == 1
    reading = alice.read("?wait=5000")
    assert [one["text"] for one in reading["messages"]] == ["m1"]


def test_unknown_ids_are_told_as_gone_and_are_no_error(alice: Actor) -> None:
    told = watch(alice, sessions=f"{alice.id},nobody-of-this-id")
    assert (ids_of(told), told["gone"]) == ([alice.id], ["nobody-of-this-id"])
    assert watch(alice, told["cursor"], sessions="nobody-of-this-id")["gone"] == ["nobody-of-this-id"]
    assert watch(alice, sessions="nobody-of-this-id", wait=60_000)["gone"] == ["nobody-of-this-id"]


def test_who_was_gone_at_a_cursor_ends_no_wait_and_is_told_at_its_end(alice: Actor) -> None:
    cursor = watch(alice, sessions="nobody-of-this-id")["cursor"]
    began = time.monotonic()
    told = watch(alice, cursor, sessions="nobody-of-this-id", wait=1000)
    assert time.monotonic() - began > 0.9
    assert (told["gone"], told["timedOut"]) == (["nobody-of-this-id"], True)


def test_a_deleted_session_is_told_as_gone(api: Api, server: Running, alice: Actor, bob: Actor) -> None:
    cursor = watch(bob)["cursor"]
    waiter = Background(lambda: watch(bob, cursor, wait=60_000, sessions=alice.id))
    eventually(lambda: api.metric("restante_parked") == 1)
    api.ask("DELETE", f"/sessions/{alice.id}", headers=server.person())
    assert waiter.result()["gone"] == [alice.id]


@pytest.mark.parametrize("cursor", ["1", "w1", "w1.a.b.c.d", "w9.a.1.b.2", "%00", "w1.a.1.b.-2"])
def test_a_malformed_cursor_is_400(alice: Actor, cursor: str) -> None:
    answer = alice.ask("GET", f"/watch?since={cursor}")
    assert (answer.status, answer.word) == (400, "INVALID_INPUT")


def test_more_sessions_than_may_be_watched_is_400(alice: Actor) -> None:
    assert alice.ask("GET", f"/watch?sessions={','.join(['x'] * 65)}").status == 400


def test_s58_the_cursor_survives_a_restart(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        api = server.api()
        assert api.ask("PUT", "/persistence", {"on": True}, server.person()).status == 200
        alice, bob = api.actor(), api.actor()
        cursor = watch(bob)["cursor"]
        alice.ask("POST", f"/sessions/{alice.id}/turn", {"ended": True})
        server.stop()
    with running(tmp_path) as server:
        api = server.api()
        alice, bob = alice._replace(api=api), bob._replace(api=api)
        told = watch(bob, cursor)
        assert ids_of(told) == [alice.id]
        bob.post(alice, "after")
        assert ids_of(watch(bob, told["cursor"])) == [alice.id]


def test_the_older_watch_tells_only_what_deserves_a_look(alice: Actor, bob: Actor) -> None:
    cursor = watch(bob)["cursor"]
    alice.ask("POST", f"/sessions/{alice.id}/turn", {"ended": False})
    told = bob.ask("GET", f"/agent-watch?since={cursor}").data
    assert alice.id not in [row["id"] for row in told["ended"]]
    alice.ask("POST", f"/sessions/{alice.id}/turn", {"ended": True})
    told = bob.ask("GET", f"/agent-watch?since={cursor}").data
    assert alice.id in [row["id"] for row in told["ended"]]
    assert set(told) == {"cursor", "ended", "gone", "timedOut"}
