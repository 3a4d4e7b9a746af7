"""Starting, being found, stopping."""

from __future__ import annotations

import json
import os
import plistlib
import resource
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.faces.http.api import Background, eventually, running

from restante.faces.http.serve import is_loopback, url_of
from restante.faces.http.units import launchd_plist, systemd_unit

if TYPE_CHECKING:
    from pathlib import Path


def test_it_is_found_while_it_runs_and_not_after(tmp_path: Path) -> None:
    found = tmp_path / "server.json"
    with running(tmp_path) as server:
        api = server.api()
        told = json.loads(found.read_text())
        assert (told["url"], told["pid"]) == (api.url, server.process.pid)
        assert found.stat().st_mode & 0o777 == 0o600
        assert server.stop() == 0
        assert not found.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_is_no_failure_and_answers_what_was_asked(tmp_path: Path, number: int) -> None:
    with running(tmp_path) as server:
        api = server.api()
        alice, bob = api.actor(), api.actor()
        writers = [Background(lambda: [bob.post(alice, "x").status for _ in range(10)]) for _ in range(4)]
        reading = Background(lambda: api.actor().read("?wait=600000"))
        eventually(lambda: api.metric("restante_parked") == 1)
        for one in writers:
            one.result()
        began = time.monotonic()
        assert server.stop(number) == 0
        assert time.monotonic() - began < 10
        assert reading.result()["timedOut"] is False
        assert [one["event"] for one in server.log][-2:] == ["stopping", "stopped"]


@pytest.mark.slow
def test_a_stop_does_not_wait_for_a_client_that_takes_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        api = server.api()
        with api.connect() as idle, api.connect() as half:
            half.sendall(b"POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            eventually(lambda: api.ask("GET", "/health").status == 200)
            began = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - began < 10
            idle.close()


def test_there_is_one_server_for_a_data_directory(tmp_path: Path) -> None:
    with running(tmp_path) as first:
        first.api()
        with running(tmp_path) as second:
            assert second.process.wait(30) == 4
            second.stop()
            assert "another server" in "".join(second.words)
        assert first.api().ask("GET", "/health").status == 200


def test_a_server_that_was_killed_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        server.api()
        server.stop(signal.SIGKILL)
    assert (tmp_path / "server.json").exists()
    with running(tmp_path) as server:
        assert server.api().ask("GET", "/health").status == 200


def test_an_address_that_others_can_reach_needs_an_account_first(tmp_path: Path) -> None:
    with running(tmp_path, "--host", "0.0.0.0", "--port", "0") as server:
        assert server.process.wait(30) == 4
        server.stop()
        assert "restante account add" in "".join(server.words)
    with running(tmp_path) as server:
        body = {"name": "ada", "password": "a password of ada"}
        assert server.api().ask("POST", "/accounts", body, server.person()).status == 200
        server.stop()
    with running(tmp_path, "--host", "0.0.0.0", "--port", "0") as server:
        assert server.api().url.startswith("http://127.0.0.1:")
        assert server.api().ask("GET", "/sessions").status == 401


def test_an_address_that_cannot_be_bound_is_named(tmp_path: Path) -> None:
    with running(tmp_path / "one") as server:
        taken = str(server.api().port)
        with running(tmp_path / "two", "--port", taken) as second:
            assert second.process.wait(30) == 2
            second.stop()
            assert f"127.0.0.1:{taken}" in "".join(second.words)
    with running(tmp_path / "three", "--host", "no such host", "--port", "0") as third:
        assert third.process.wait(30) == 2


def test_ipv6_loopback_is_served(tmp_path: Path) -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("no IPv6 here")
    with running(tmp_path, "--host", "::1", "--port", "0") as server:
        assert server.api().url.startswith("http://[::1]:")


def test_logs_are_json_without_a_word_of_mail(tmp_path: Path) -> None:
    canary = "canary" + secrets.token_hex(8)
    with running(tmp_path) as server:
        api = server.api()
        alice, bob = api.actor(name="x" + canary), api.actor()
        bob.post(alice, canary, subject=canary)
        bob.post(alice, canary * 2000)
        api.ask("POST", f"/sessions/{alice.id}/inbox", raw=canary.encode())
        alice.read()
        server.stop()
    assert server.words == []
    assert {"listening", "stopping", "stopped"} <= {one["event"] for one in server.log}
    assert all(set(one) >= {"at", "event"} for one in server.log)
    assert canary not in str(server.log)


def test_on_a_terminal_a_person_is_told_where_it_serves_and_how_to_end_it(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "RESTANTE_DATA": str(tmp_path), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "restante.faces.http", "--port", "0"]
    with subprocess.Popen(command, env=environment, stderr=theirs, stdout=subprocess.DEVNULL) as process:
        os.close(theirs)
        with open(ours, "rb", buffering=0) as terminal:
            line = b""
            while not line.endswith(b"\n"):
                line += terminal.read(1)
            url = json.loads((tmp_path / "server.json").read_text())["url"]
            assert line.decode().strip() == f"restante serves at {url}; end it with Ctrl-C"
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0


def test_a_log_that_nobody_reads_does_not_stop_it(tmp_path: Path) -> None:
    environment = {**os.environ, "RESTANTE_DATA": str(tmp_path), "HOME": str(tmp_path)}
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "restante.faces.http", "--port", "0"], env=environment, stderr=writer
    )
    os.close(writer)
    try:
        eventually((tmp_path / "server.json").exists)
        os.close(reader)
        process.terminate()
        assert process.wait(15) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_start_costs_little(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with running(tmp_path) as server:
        api = server.api()
        assert api.ask("GET", "/health").status == 200
        with open(f"/proc/{server.process.pid}/stat") as file:
            ticks = file.read().rpartition(")")[2].split()
        with open(f"/proc/{server.process.pid}/status") as file:
            resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
        assert (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK") <= 1.0
        assert resident <= 80 * 1024
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime >= before.ru_utime


def test_a_systemd_unit_runs_this_very_server() -> None:
    unit = systemd_unit(["/opt/my py/python", "-I", "-m", "x", "--host", "100%$HOME"], {"RESTANTE_DATA": "/da ta"})
    assert 'ExecStart="/opt/my py/python" "-I" "-m" "x" "--host" "100%%$$HOME"\n' in unit
    assert 'Environment="RESTANTE_DATA=/da ta"\n' in unit
    assert "RESTANTE_DATABASE_URL" not in systemd_unit(["x"], {"RESTANTE_DATABASE_URL": "postgresql://u:secret@h"})


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_a_systemd_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    unit = tmp_path / "restante.service"
    data = {"RESTANTE_DATA": str(tmp_path / "da ta"), "HOME": str(tmp_path)}
    unit.write_text(systemd_unit([sys.executable, "-I", "-m", "restante.faces.http", "--port", "0"], data))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    unit.write_text(unit.read_text().replace("ExecStart=", "ExecStart=no-such/program "))
    broken = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, timeout=60, check=False)
    assert broken.returncode != 0


def test_a_launchd_list_can_be_read() -> None:
    told = plistlib.loads(launchd_plist(["/p y", "--host", "<&>"], {"HOME": "/Users/a"}).encode())
    assert told["ProgramArguments"] == ["/p y", "--host", "<&>"]
    assert told["EnvironmentVariables"] == {"HOME": "/Users/a"}
    assert told["RunAtLoad"] is True


@pytest.mark.parametrize("flag", ["--systemd", "--launchd"])
def test_unit_files_are_printed_and_nothing_is_started(tmp_path: Path, flag: str) -> None:
    environment = {**os.environ, "RESTANTE_DATA": str(tmp_path / "data"), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "restante.faces.http", flag, "--port", "8377"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "restante.faces.http" in done.stdout
    assert "8377" in done.stdout
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("host", "is_here"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_what_only_this_machine_reaches(host: str, is_here: bool) -> None:
    assert is_loopback(host) is is_here


def test_where_a_server_is_reached() -> None:
    assert url_of("0.0.0.0", 1) == "http://127.0.0.1:1"
    assert url_of("::", 1) == "http://[::1]:1"
    assert url_of("::1", 1) == "http://[::1]:1"
    assert url_of("box.example", 1) == "http://box.example:1"
