"""Who is who: statements 26 to 34, and the matrix of callers."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.exchange.conftest import ALICE, BOB
from tests.exchange.world import TOKEN, bodies, send, take
from tests.trying import examples

from restante.domain.errors import Forbidden, NoSuchSession, RestanteError, UsageError
from restante.domain.message import Draft, Sender
from restante.domain.registry import Arrival, Claim, Identity
from restante.testing import TRICKY_TEXTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.exchange.world import World

    from restante.exchange.window import LocalWindow

CAROL = "ca401000-0000-4000-8000-000000000003"
CARLA = "ca401000-0000-4000-8000-000000000004"
UNVERIFIED = Sender("user", verified=False)


@pytest.mark.parametrize("text", [text for text in TRICKY_TEXTS if text.strip()])
def test_s26_text_comes_back_verbatim(world: World, text: str) -> None:
    send(world.window(ALICE), BOB, text)
    assert bodies(world.window(BOB)) == [text]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(20))
@given(text=st.text(min_size=1, max_size=200).filter(str.strip))
def test_s26_any_text_comes_back_verbatim(world: World, text: str) -> None:
    message = send(world.window(ALICE), BOB, text)
    bob = world.window(BOB)
    assert bodies(bob) == [text]
    bob.acknowledge([message.id])


def test_s27_s30_a_live_session_is_resolved_by_its_id_or_8_characters_of_it_to_its_full_id(world: World) -> None:
    for reference in (ALICE, ALICE[:8], ALICE[:20]):
        window = world.claiming(reference)
        assert window.identity == Identity("", ALICE, verified=False)
        assert send(window, BOB).sender == Sender(f"session:{ALICE}", verified=False)
    assert world.claiming(ALICE).identity.sender.label == f"session:{ALICE} (unverified)"


@pytest.mark.parametrize(
    "reference",
    ["unknown0-0000", ALICE[:7], "ca401000", ALICE.upper(), "alice", ALICE + "0", "%", "_" * 8, "\ud800" * 8, "\0" * 8],
)
def test_s28_anything_else_is_the_user_unverified_and_never_an_error(world: World, reference: str) -> None:
    world.session(CAROL)
    world.session(CARLA)
    window = world.claiming(reference)
    assert window.identity == Identity("", claimed=reference)
    assert send(window, BOB).sender == UNVERIFIED
    assert window.identity.sender.label == "user (unverified)"


def test_s28_an_absent_claim_is_the_user_unverified_and_not_human(world: World) -> None:
    assert send(world.nobody, BOB).sender == UNVERIFIED
    assert send(world.person, BOB).sender == Sender("human", verified=True)


@pytest.mark.parametrize("end", ["killed", "detached", "deleted"])
def test_s28_a_dead_session_is_nobody(world: World, end: str) -> None:
    alice = world.window(ALICE)
    if end == "killed":
        world.kill(ALICE)
    elif end == "detached":
        alice.detach()
    else:
        alice.delete(ALICE)
    assert world.claiming(ALICE).identity == Identity("", claimed=ALICE)


def test_s28_among_several_only_the_live_one_is_claimed_by_its_beginning(world: World) -> None:
    world.session(CAROL)
    world.session(CARLA)
    world.kill(CARLA)
    assert world.claiming("ca401000").identity.session == CAROL


def test_s29_another_owners_session_cannot_be_claimed_or_named(world: World) -> None:
    world.session(CAROL, owner="ann")
    assert world.claiming(CAROL).identity == Identity("", claimed=CAROL)
    assert world.claiming(ALICE, owner="ann").identity == Identity("ann", claimed=ALICE)
    with pytest.raises(NoSuchSession):
        send(world.window(ALICE), CAROL)


def test_a_wrong_secret_proves_nothing_and_an_owner_that_was_proven_otherwise_stays(world: World) -> None:
    world.session(CAROL, owner="ann")
    identify = world.exchange.identify
    assert identify(Claim("wrong", ALICE)) == Identity("", ALICE, verified=False)
    assert identify(Claim("wrong")) == Identity()
    assert identify(Claim(f"secret of {CAROL}", owner="ben")) == Identity("ben")
    assert identify(Claim(f"secret of {CAROL}", owner="ann")) == Identity("ann", CAROL, verified=True)
    assert identify(Claim(f"secret of {CAROL}")) == Identity("ann", CAROL, verified=True)
    assert world.person.identity == Identity("", verified=True)
    assert identify(Claim(TOKEN, owner="ann")) == Identity("ann")
    assert identify(Claim(owner="ann")) == Identity("ann", verified=True)
    assert identify(Claim(session="nobody-at-all", owner="ann")) == Identity("ann", claimed="nobody-at-all")
    assert identify(Claim("\ud800")) == Identity()


def test_each_machine_on_one_register_has_its_own_token(world: World) -> None:
    for token in ("first", "second", "second"):
        world.exchange.trust_person(token)
    for token in ("first", "second"):
        assert world.exchange.identify(Claim(token)) == Identity("", verified=True)


def test_an_unproven_sender_gains_nothing_by_dropping_its_claim(world: World) -> None:
    for window in (world.nobody, world.claiming("gone-for-good"), world.window(ALICE)):
        with pytest.raises(Forbidden):
            window.delete(BOB)
        with pytest.raises(Forbidden):
            window.detach(BOB)
        with pytest.raises(Forbidden):
            window.describe(BOB, name="eve")
        with pytest.raises(Forbidden):
            window.turn(BOB, has_ended=True)
        with pytest.raises(Forbidden):
            window.set_persistence(True)
    assert world.row(BOB).session.name == "bob"


def test_s32_unknown_and_foreign_sessions_are_told_alike(world: World) -> None:
    foreign, unknown = "f0000000-0000-4000-8000-000000000009", "f1111111-0000-4000-8000-000000000009"
    world.session(foreign, owner="ann", name="nina")
    alice = world.window(ALICE)

    def told(reference: str) -> tuple[str, str, str]:
        with pytest.raises(NoSuchSession) as caught:
            send(alice, reference)
        error = caught.value
        return error.code, error.message.replace(reference, "X"), error.remedy

    assert told(foreign) == told(unknown) == told(foreign[:8]) == told("nina") == told(ALICE[:7]) == told("nobody")
    for act in (alice.read, alice.delete, alice.describe, alice.detach):
        with pytest.raises(NoSuchSession):
            act(foreign)


def test_a_receiver_is_named_by_id_name_or_beginning_and_an_ambiguous_name_lists_who_is_meant(world: World) -> None:
    alice = world.window(ALICE)
    for to in (BOB, "bob", BOB[:8]):
        assert alice.post(to, Draft("Hello.")).to.id == BOB
    world.session(CAROL, name="twin")
    world.session(CARLA, name="twin")
    for reference in ("twin", "ca401000"):
        with pytest.raises(NoSuchSession) as caught:
            send(alice, reference)
        assert CAROL in caught.value.message
        assert CARLA in caught.value.message


def test_a_name_that_could_pass_for_another_is_refused(world: World) -> None:
    for name in ("bo\u202eb", "bob\n", " bob", "x" * 101, "a\x1b[31m", "\u200bbob", "\ud800"):
        with pytest.raises(UsageError):
            world.nobody.register(Arrival(CAROL, name=name))
        with pytest.raises(UsageError):
            world.person.describe(BOB, name=name)
    for session_id in ("", "../x", "a b", "é", "x" * 129, "-a"):
        with pytest.raises(UsageError):
            world.nobody.register(Arrival(session_id))
    with pytest.raises(UsageError):
        world.nobody.register(Arrival(CAROL, secret_digest="short"))


def test_no_session_gets_anothers_mail_by_taking_what_it_is_called_by_for_a_name_or_an_id(world: World) -> None:
    world.session(CAROL, name=BOB[:8])
    with pytest.raises(NoSuchSession) as caught:
        send(world.window(ALICE), BOB[:8])
    assert BOB in caught.value.message
    assert CAROL in caught.value.message
    assert world.window(ALICE).post(BOB, Draft("For Bob.")).to.id == BOB
    for arrival in (Arrival("bob"), Arrival(CARLA, name=BOB)):
        with pytest.raises(UsageError):
            world.nobody.register(arrival)
    with pytest.raises(UsageError):
        world.window(CAROL).describe(CAROL, name=BOB)
    assert world.window(BOB).describe(BOB, name=BOB).name == BOB
    assert world.window(ALICE).post(BOB, Draft("For Bob.")).to.id == BOB


PANE_PROBE = """
import os, sys
from restante.domain.message import Draft
from restante.domain.registry import Arrival, Claim
from restante.wiring.sessions import open_exchange

touched = []
def hook(event, arguments):
    if event in {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "pty.spawn", "socket.connect"}:
        touched.append((event, arguments))
    if event == "open" and str(arguments[0]).startswith(("/dev/tty", "/dev/pts")):
        touched.append((event, arguments))
sys.addaudithook(hook)
environment = {"RESTANTE_DATA": sys.argv[1], "HOME": sys.argv[1]}
for round in range(2):
    exchange = open_exchange(environment, holds_mail=True)
    exchange.trust_person("token")
    person = exchange.window(exchange.identify(Claim("token")))
    for name in ("session-a", "session-b"):
        person.register(Arrival(name))
    one, two = (exchange.window(exchange.identify(Claim(session=name))) for name in ("session-a", "session-b"))
    one.post("session-b", Draft("1"))
    ids = [entry.message.id for entry in two.read(wait=1.0).entries]
    two.confirm(ids)
    two.acknowledge(ids)
    two.watch()
    one.receipts()
    person.set_persistence(round == 0)
    one.post("session-b", Draft("2"))
    exchange.upkeep()
    exchange.close()
assert not touched, touched
print("done")
"""


def test_s33_nothing_is_ever_written_to_a_terminal_or_a_pane(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PANE_PROBE, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_s31_s34_a_post_leaves_no_file_in_the_worktree_but_a_sign_without_content(world: World, tmp_path: Path) -> None:
    import os

    root = tmp_path / "worktree"
    (root / ".codex-mailbox").mkdir(parents=True)
    world.session(CAROL, worktree=str(root), host=os.uname().nodename)
    message = send(world.window(ALICE), CAROL, "CANARY-TEXT")
    files = [path for path in root.rglob("*") if path.is_file()]
    assert (root / ".codex-mailbox" / ".restante" / "session-mail") in files
    assert all("CANARY" not in path.read_text() for path in files)
    assert (root / ".codex-mailbox" / ".restante" / "session-mail").read_bytes() == b""
    row = world.row(CAROL)
    assert (row.counts.unseen, row.is_parked) == (1, False)
    world.window(CAROL).acknowledge([message.id])
    assert not (root / ".codex-mailbox" / ".restante" / "session-mail").exists()


# -- the matrix ------------------------------------------------------------------------------------------------

CALLERS = ["self by id", "self by 8", "self by secret", "other", "other owner", "dead", "ambiguous", "none", "person"]
RECEIVERS = {"self by id", "self by 8", "self by secret"}


def window_of(world: World, caller: str) -> LocalWindow:
    if caller == "dead":
        world.session(CAROL)
        world.kill(CAROL)
        return world.claiming(CAROL)
    if caller == "ambiguous":
        world.session(CAROL)
        world.session(CARLA)
        return world.claiming("ca401000")
    if caller == "other owner":
        return world.session(CAROL, owner="ann")
    return {
        "self by id": lambda: world.claiming(BOB),
        "self by 8": lambda: world.claiming(BOB[:8]),
        "self by secret": lambda: world.window(BOB),
        "other": lambda: world.claiming(ALICE),
        "none": lambda: world.nobody,
        "person": lambda: world.person,
    }[caller]()


@pytest.mark.parametrize("act", ["read and confirm", "wait", "ack"])
@pytest.mark.parametrize("caller", CALLERS)
def test_the_matrix_of_callers(world: World, caller: str, act: str) -> None:
    window = window_of(world, caller)
    message = send(world.window(ALICE), BOB)
    before = world.window(BOB).read()
    error: RestanteError | None = None
    try:
        if act == "ack":
            window.acknowledge([message.id], BOB)
        else:
            reading = window.read(BOB, wait=None if act == "read and confirm" else 60.0)
            assert [entry.message.id for entry in reading.entries] == [message.id]
            assert reading.is_peek == (caller not in RECEIVERS)
            window.confirm([message.id], BOB)
    except RestanteError as caught:
        error = caught
    after = world.window(BOB).read()
    if caller == "other owner":
        assert type(error) is NoSuchSession
        assert after == before
    elif caller not in RECEIVERS:
        assert type(error) is (Forbidden if act == "ack" else type(None))
        assert after == before
    elif act == "ack":
        assert error is None
        assert after.counts.pending == 0
    else:
        assert error is None
        assert (after.counts.pending, after.counts.unseen) == (1, 0)


@pytest.mark.parametrize("caller", CALLERS)
def test_only_the_receivers_own_wait_makes_it_parked(world: World, caller: str) -> None:
    send(world.window(ALICE), BOB)
    take(world.window(BOB))
    window = window_of(world, caller)
    if caller == "other owner":
        with pytest.raises(NoSuchSession):
            window.read(BOB, wait=0.01)
    else:
        assert window.read(BOB, wait=0.01).timed_out
    assert world.row(BOB).is_parked == (caller in RECEIVERS)


def test_an_owner_proven_by_a_password_manages_its_own_sessions_and_nothing_else(world: World) -> None:
    world.session(CAROL, owner="ann")
    owner = world.claiming("", owner="ann")
    assert owner.describe(CAROL, name="carol").name == "carol"
    with pytest.raises(NoSuchSession):
        owner.delete(ALICE)
    with pytest.raises(Forbidden):
        world.claiming("no-such-session", owner="ann").delete(CAROL)
    world.exchange.trust_person(TOKEN, "ann")
    person = world.exchange.window(world.exchange.identify(Claim(TOKEN, owner="ann")))
    assert person.identity == Identity("ann", verified=True)
    for window in (owner, person):
        with pytest.raises(Forbidden):
            window.set_persistence(True)
    assert owner.delete(CAROL).id == CAROL
