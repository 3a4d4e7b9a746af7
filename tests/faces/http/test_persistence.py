"""Off writes no text anywhere; on, every answered post survives; what is stored outlives sessions as was agreed."""

from __future__ import annotations

import os
import secrets
import signal
from typing import TYPE_CHECKING

from tests.faces.http.api import Background, eventually, running

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.http.api import Actor, Api, Running

HOUR = 3600


def holds(data: Path, text: str) -> list[str]:
    """Return the files below a directory that hold a text."""
    found = []
    for place, _, names in os.walk(data):
        for path in (os.path.join(place, name) for name in names):
            # A FIFO, by which a host hears, would be waited for.
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    if text.encode() in file.read():
                        found.append(os.path.basename(path))
    return found


def switch(api: Api, server: Running, *, on: bool) -> None:
    answer = api.ask("PUT", "/settings/persistence", {"on": on}, server.person())
    assert answer.status == 200, answer
    assert answer.data == {"on": on, "fixed": False, "hasServer": True}


def again(actor: Actor, api: Api) -> Actor:
    return actor._replace(api=api)


def test_s42_s43_off_is_the_default_and_writes_no_text_anywhere(tmp_path: Path) -> None:
    canary = "canary" + secrets.token_hex(8)
    with running(tmp_path) as server:
        api = server.api()
        assert api.ask("GET", "/settings/persistence").data["on"] is False
        alice, bob = api.actor(), api.actor()
        message = bob.post(alice, canary, subject=canary + "s").data["message"]["id"]
        alice.read()
        assert holds(tmp_path, canary) == []
        alice.ack(message)
        bob.post(alice, canary)
        assert server.stop() == 0
        assert holds(tmp_path, canary) == []
        assert canary not in str(server.log) + str(server.words)


def test_s44_s45_the_switch_keeps_and_deletes_at_once(tmp_path: Path) -> None:
    canary = "canary" + secrets.token_hex(8)
    with running(tmp_path) as server:
        api = server.api()
        alice, bob = api.actor(), api.actor()
        bob.post(alice, canary)
        alice.read()
        switch(api, server, on=True)
        assert holds(tmp_path, canary)
        assert (tmp_path / "mail.db").stat().st_mode & 0o777 == 0o600
        bob.post(alice, canary + " more")
        switch(api, server, on=False)
        assert holds(tmp_path, canary) == []
        texts = [one["text"] for one in alice.read()["messages"]]
        assert texts == [canary, canary + " more"]
        bob.post(alice, canary)
        assert holds(tmp_path, canary) == []


def test_s44_a_parked_read_outlives_the_switch(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        api = server.api()
        alice, bob = api.actor(), api.actor()
        reading = Background(lambda: alice.read("?wait=60000"))
        eventually(lambda: api.metric("restante_parked") == 1)
        switch(api, server, on=True)
        switch(api, server, on=False)
        assert not reading.is_over
        bob.post(alice, "after it")
        assert [one["text"] for one in reading.result()["messages"]] == ["after it"]


def test_s51_mail_seen_state_and_times_survive_a_kill(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        api = server.api()
        switch(api, server, on=True)
        alice, bob = api.actor(), api.actor()
        bob.post(alice, "seen")
        before = alice.read()["messages"]
        bob.post(alice, "unseen")
        server.stop(signal.SIGKILL)
    with running(tmp_path) as server:
        alice = again(alice, server.api())
        counts = alice.counts()
        assert (counts["pending"], counts["unseen"]) == (2, 1)
        # The seen one ends no wait; the unseen one answers at once.
        reading = alice.read("?wait=60000")
        assert [one["text"] for one in reading["messages"]] == ["seen", "unseen"]
        seen = reading["messages"][0]
        assert {**before[0], "status": "seen", "seenAt": seen["seenAt"]} == seen
        assert seen["seenAt"] is not None


def test_s43_with_persistence_off_mail_ends_with_the_server_and_sessions_do_not(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        api = server.api()
        alice, bob = api.actor(), api.actor()
        bob.post(alice, "in memory")
        cursor = bob.ask("GET", "/watch").data["cursor"]
        server.stop()
    with running(tmp_path) as server:
        alice = again(alice, server.api())
        assert alice.read()["messages"] == []
        # A lost place is told, and everyone is told again: duplicates yes, gaps no.
        assert alice.id in [row["id"] for row in alice.ask("GET", f"/watch?since={cursor}").data["sessions"]]


def test_s50_a_restart_does_not_renew_the_time_to_live(tmp_path: Path) -> None:
    def at(hours: float) -> dict[str, str]:
        minutes = round(hours * 60)
        return {"RESTANTE_NOW": f"2026-05-{20 + minutes // 1440:02}T{minutes % 1440 // 60:02}:{minutes % 60:02}:00Z"}

    with running(tmp_path, **at(0)) as server:
        api = server.api()
        switch(api, server, on=True)
        alice, bob = api.actor(), api.actor()
        message = bob.post(alice, "twelve hours").data["message"]["id"]
        server.stop()
    with running(tmp_path, **at(11 + 59 / 60)) as server:
        alice = again(alice, server.api())
        assert alice.counts()["pending"] == 1
        server.stop()
    with running(tmp_path, **at(12 + 1 / 60)) as server:
        api = server.api()
        alice, bob = again(alice, api), again(bob, api)
        assert alice.counts()["pending"] == 0
        assert alice.read()["messages"] == []
        # Expiry leaves a trace that the sender can ask for.
        trace = bob.ask("GET", "/receipts").data["receipts"][0]
        assert (trace["messageId"], trace["state"]) == (message, "expired")
        # s25: what expired takes no room.
        assert bob.post(alice, "x" * 16_000).status == 200


def test_s48_s49_a_register_that_cannot_be_read_costs_no_mail(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        api = server.api()
        switch(api, server, on=True)
        alice, bob = api.actor(), api.actor()
        bob.post(alice, "kept")
        server.stop()

    def contents(beginning: str) -> dict[str, bytes]:
        return {one.name: one.read_bytes() for one in tmp_path.iterdir() if one.name.startswith(beginning)}

    mail, register = contents("mail.db"), contents("restante.db")
    for name in register:
        (tmp_path / name).write_bytes(b"this is no database" * 1000)
    with running(tmp_path) as server:
        assert server.process.wait(30) == 1
        assert "restante.db" in "".join(server.words)
    assert contents("mail.db") == mail
    for name in contents("restante.db"):
        (tmp_path / name).unlink()
    for name, data in register.items():
        (tmp_path / name).write_bytes(data)
    with running(tmp_path) as server:
        alice = again(alice, server.api())
        assert [one["text"] for one in alice.read()["messages"]] == ["kept"]


def test_s52_a_damaged_file_of_mail_is_set_aside_and_stops_no_start(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        api = server.api()
        switch(api, server, on=True)
        alice, bob = api.actor(), api.actor()
        bob.post(alice, "lost")
        server.stop()
    for name in ("mail.db-wal", "mail.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    damage = b"this is no database" * 1000
    (tmp_path / "mail.db").write_bytes(damage)
    with running(tmp_path) as server:
        api = server.api()
        alice, bob = again(alice, api), again(bob, api)
        eventually(lambda: bob.post(alice, "after").status == 200)
    kept = [one for one in tmp_path.iterdir() if one.name.startswith("mail.db") and one.read_bytes() == damage]
    assert len(kept) == 1


def test_s54_deleting_a_session_deletes_its_inbox(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        api = server.api()
        alice, bob = api.actor(), api.actor()
        message = bob.post(alice, "hello").data["message"]["id"]
        assert alice.ask("DELETE", f"/sessions/{alice.id}").status == 200
        assert bob.post(alice, "again").status == 404
        trace = bob.ask("GET", "/receipts").data["receipts"][0]
        assert (trace["messageId"], trace["state"]) == (message, "deleted")
        # s57: another session, also one of the same name, begins with an empty inbox.
        assert api.actor().read()["messages"] == []
        reborn = api.actor(id=alice.id)
        assert reborn.read()["messages"] == []


def test_s55_detaching_keeps_the_inbox_over_a_restart(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        api = server.api()
        switch(api, server, on=True)
        alice, bob = api.actor(), api.actor()
        bob.post(alice, "kept")
        assert alice.ask("DELETE", f"/sessions/{alice.id}?detach=1").data["session"]["detachedAt"] is not None
        server.stop()
    with running(tmp_path) as server:
        api = server.api()
        assert again(bob, api).post(alice, "one more").data["presence"] == "detached"
        assert api.ask("POST", "/sessions", {"id": alice.id}, alice.proof).status == 200
        alice = again(alice, api)
        assert [one["text"] for one in alice.read()["messages"]] == ["kept", "one more"]
