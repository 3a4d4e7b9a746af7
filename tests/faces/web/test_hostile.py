"""What somebody sends who means ill: it is refused as what it is, costs little, and is no fault of the server."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from tests.faces.web.test_entering import ask, cookie_of

if TYPE_CHECKING:
    import socket

    from tests.faces.web.conftest import Ground

PIECE = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"


def faults_of(ground: Ground) -> list[object]:
    return [one for one in ground.server.log if one["event"] == "fault"]


def written(process: int) -> int:
    """Return how many bytes of files that have no name any more a process holds."""
    place = f"/proc/{process}/fd"
    found = 0
    for one in os.listdir(place):
        if os.readlink(f"{place}/{one}").endswith("(deleted)"):
            found += os.stat(f"{place}/{one}").st_size
    return found


def answer_to(client: socket.socket) -> bytes:
    told = b""
    while b"\r\n\r\n" not in told:
        piece = client.recv(65_536)
        if not piece:
            break
        told += piece
    return told


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        ("application/x-www-form-urlencoded", b"name="),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n',
        ),
    ],
)
def test_a_form_without_a_length_is_bounded_for_whoever_has_not_entered(
    shared: Ground, kind: str, start: bytes
) -> None:
    with shared.api.connect() as client:
        head = (
            f"POST /ui/enter HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        client.sendall(head.encode() + b"%x\r\n" % len(start) + start + b"\r\n")
        for _ in range(64):
            client.sendall(PIECE)
        assert answer_to(client).startswith(b"HTTP/1.1 401 ")
        assert written(shared.server.process.pid) == 0
    assert faults_of(shared) == []


def test_who_hangs_up_within_a_form_is_no_fault(ground: Ground) -> None:
    with ground.api.connect() as client:
        head = "POST /ui/enter HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        client.sendall(f"{head}Content-Length: 100\r\n\r\nname=".encode())
        # That one is answered says that the other one was begun with.
        assert ask(ground, "GET", "/ui/").status == 401
    before = len(ground.server.log)
    for _ in range(20):
        assert ask(ground, "GET", "/ui/").status == 401
    assert faults_of(ground) == []
    assert len(ground.server.log) == before


AS_ANOTHER = """
import encodings.idna, http.client, os, sys
connection = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]), timeout=30)
os.setuid(65534)
connection.request("GET", sys.argv[3], headers={"Host": sys.argv[4]})
answer = connection.getresponse()
print(answer.status, answer.getheader("set-cookie"))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1"])
def test_a_key_that_another_user_read_lets_that_user_not_in_and_stays_good(ground: Ground, host: str) -> None:
    path = ground.key_path()
    words = [sys.executable, "-c", AS_ANOTHER, ground.api.host, str(ground.api.port), path, host]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["401", "None"], done.stderr
    assert ask(ground, "GET", path).status == 303


@pytest.mark.parametrize("signature", ["é", "\x80", "ÿ" * 100])
def test_a_cookie_that_is_no_ascii_proves_nothing(shared: Ground, signature: str) -> None:
    cookie_of(shared)
    assert ask(shared, "GET", "/ui/", cookie=f"restante=.99999999999.x.{signature}").status == 401
    assert faults_of(shared) == []


@pytest.mark.parametrize("path", ["/", "/part/sessions"])
@pytest.mark.parametrize("size", ["9" * 5000, "-1", "²", ""])
def test_a_size_that_is_none_is_passed_over(shared: Ground, path: str, size: str) -> None:
    assert ask(shared, "GET", f"/ui{path}?size={quote(size)}", cookie=cookie_of(shared)).status == 200
    assert faults_of(shared) == []


def test_what_installing_would_change_is_shown_with_what_hides_in_it(ground: Ground) -> None:
    (ground.worktree / "AGENTS.md").write_text("# Rules \u202e<script>alert(1)</script>\x1b[31m\n", encoding="utf-8")
    ground.api.actor("worker", workingDir=str(ground.worktree))
    shown = ask(ground, "GET", f"/ui/worktrees?path={quote(str(ground.worktree))}", cookie=cookie_of(ground)).body
    assert b"# Rules \\u202e&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m" in shown
