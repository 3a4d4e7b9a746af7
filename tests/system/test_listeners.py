"""Whose process listens on this machine: no secret goes to another user's."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest
from tests.system.fake_server import fake

from restante.domain.errors import RestanteError, Unsafe
from restante.domain.registry import Claim
from restante.system import listeners
from restante.system.listeners import check_is_ours
from restante.system.remote import RemoteWindow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STRANGER = 4711

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="needs /proc/net")


def lines(*places: tuple[str, int, str]) -> str:
    head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    zeros = "00000000:00000000 00:00000000 00000000"
    return head + "".join(
        f"   {number}: {place} 00000000:0000 {state} {zeros} {user:5}        0 1 1 0 100 0 0 10 0\n"
        for number, (place, user, state) in enumerate(places)
    )


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(listeners, "_FOUR", str(tmp_path / "tcp"))
    monkeypatch.setattr(listeners, "_SIX", str(tmp_path / "tcp6"))
    monkeypatch.setattr("sys.byteorder", "little")
    return tmp_path


LOOPBACK, ANY = "0100007F:20B9", "00000000:20B9"
LOOPBACK6, ANY6 = f"{'0' * 24}01000000:20B9", f"{'0' * 32}:20B9"
MAPPED = f"{'0' * 16}FFFF00000100007F:20B9"


@pytest.mark.parametrize(
    ("address", "four", "six"),
    [
        ("127.0.0.1", [LOOPBACK], []),
        ("127.0.0.1", [ANY], []),
        ("127.0.0.1", [], [MAPPED]),
        ("127.0.0.1", [], [ANY6]),
        ("::ffff:127.0.0.1", [LOOPBACK], []),
        ("::1", [], [LOOPBACK6]),
        ("::1", [], [ANY6]),
    ],
)
def test_another_users_listener_is_refused_and_named(
    tables: Path, address: str, four: list[str], six: list[str]
) -> None:
    for user in (STRANGER, os.getuid(), 0):
        (tables / "tcp").write_text(lines(*((place, user, "0A") for place in four)))
        (tables / "tcp6").write_text(lines(*((place, user, "0A") for place in six)))
        if user == STRANGER:
            with pytest.raises(Unsafe, match=r"http://here.*uid 4711"):
                check_is_ours(address, 8377, "http://here")
        else:
            check_is_ours(address, 8377, "http://here")


def test_whoever_does_not_answer_there_is_nothing_to_us(tables: Path) -> None:
    us, them = os.getuid(), STRANGER
    (tables / "tcp").write_text(
        lines(
            (LOOPBACK, us, "0A"),
            # The system prefers the exact address; and the rest is connected, on another port, or elsewhere.
            (ANY, them, "0A"),
            (LOOPBACK, them, "01"),
            ("0100007F:20BA", them, "0A"),
            ("0200007F:20B9", them, "0A"),
        )
        + "half a line\n"
    )
    (tables / "tcp6").write_text(lines((ANY6, them, "0A")))
    check_is_ours("127.0.0.1", 8377, "http://here")


def test_where_it_is_not_told_it_goes_on(tables: Path) -> None:
    check_is_ours("127.0.0.1", 8377, "http://here")
    check_is_ours("::1", 8377, "http://here")
    check_is_ours("no address", 8377, "http://here")


def test_ones_own_server_is_asked() -> None:
    with fake(lambda *_: {"sessions": []}) as server:
        RemoteWindow(server.url, Claim("5ec3e7")).sessions()
        assert server.headers[0]["Authorization"] == "Bearer 5ec3e7"


@pytest.fixture
def strangers() -> Iterator[socket.socket]:
    """A socket of another user."""
    if os.geteuid() != 0:
        pytest.skip("only the administrator can make another user's socket")
    os.seteuid(STRANGER)
    try:
        made = socket.socket()
    except OSError:
        pytest.skip("this container knows no other users")
    finally:
        os.seteuid(0)
    with made:
        made.bind(("127.0.0.1", 0))
        made.listen()
        made.settimeout(0.0)
        yield made


def test_another_users_server_is_sent_nothing(strangers: socket.socket) -> None:
    port = strangers.getsockname()[1]
    window = RemoteWindow(f"http://127.0.0.1:{port}", Claim("5ec3e7", "0199bbbb-0000-7000-8000-00000000000b"))
    with pytest.raises(RestanteError, match=f"http://127.0.0.1:{port} belongs to another user") as caught:
        window.sessions()
    assert isinstance(caught.value, Unsafe)
    heard, _ = strangers.accept()
    with heard:
        heard.settimeout(20.0)
        assert heard.recv(1) == b""


@pytest.mark.parametrize(
    ("client", "server", "path", "ends"),
    [
        (("127.0.0.1", 0x1234), ("127.0.0.1", 0x20B9), "tcp", ("0100007F:1234", LOOPBACK)),
        (("127.0.0.1", 0x1234), ("127.0.0.1", 0x20B9), "tcp6", (MAPPED.replace("20B9", "1234"), MAPPED)),
        (("::ffff:127.0.0.1", 0x1234), ("::ffff:127.0.0.1", 0x20B9), "tcp", ("0100007F:1234", LOOPBACK)),
        (("::1", 0x1234), ("::1", 0x20B9), "tcp6", (LOOPBACK6.replace("20B9", "1234"), LOOPBACK6)),
    ],
)
def test_who_connected_is_known_by_both_ends(
    tables: Path, client: tuple[str, int], server: tuple[str, int], path: str, ends: tuple[str, str]
) -> None:
    def write(user: int, local: str, remote: str, state: str = "01") -> None:
        (tables / path).write_text(f"  sl\n 0: {local} {remote} {state} 0:0 00:0 0 {user} 0 1\n")

    assert not listeners.is_anothers(client, server)
    write(STRANGER, *ends)
    assert listeners.is_anothers(client, server)
    assert not listeners.is_anothers((client[0], client[1] + 1), server)
    assert not listeners.is_anothers(client, (server[0], server[1] + 1))
    write(STRANGER, ends[1], ends[0])
    assert not listeners.is_anothers(client, server), "the server's own end is the server's"
    write(os.getuid(), *ends)
    assert not listeners.is_anothers(client, server)
    assert not listeners.is_anothers(("no number", 1), server)
