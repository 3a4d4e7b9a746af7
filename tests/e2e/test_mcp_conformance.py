"""The conformance tool of the protocol's authors, against the server that runs and against the one that programs start.

Of its scenarios those count that any server can pass; the others are about tools and prompts of a server of theirs. It
speaks HTTP only, so that a bridge of a few lines stands before standard input and output.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest
from tests.e2e import programs
from tests.faces.http.api import running
from tests.faces.mcp.program import COMMAND, Ground

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.e2e

# A later version needs a later node than the oldest that is still common.
PACKAGE, VERSION = "@modelcontextprotocol/conformance", "0.1.13"
SCENARIOS = ("server-initialize", "ping", "tools-list", "resources-list")


@pytest.fixture(scope="module")
def conformance() -> str:
    """The tool, fetched by npm into the cache of the agent programs."""
    node, npm = shutil.which("node"), shutil.which("npm")
    cache = os.environ.get("RESTANTE_TEST_CACHE") or programs.PROGRAMS["codex"].prefix.parent
    prefix = os.path.join(cache, f"conformance-{VERSION}")
    script = os.path.join(prefix, "node_modules", *PACKAGE.split("/"), "dist", "index.js")
    if npm and not os.path.exists(script):
        flags = ("--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error")
        subprocess.run([npm, "install", "--prefix", prefix, *flags, f"{PACKAGE}@{VERSION}"], timeout=600, check=False)
    if node is None or not os.path.exists(script):
        if os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS"):
            pytest.fail(f"{PACKAGE} cannot be had")
        pytest.skip(f"{PACKAGE} cannot be had")
    return script


def check(script: str, url: str, scenario: str, place: Path) -> None:
    done = subprocess.run(
        ["node", script, "server", "--url", url, "--scenario", scenario],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed, 0 warnings" in done.stdout, done.stdout
    assert "Passed: 0/" not in done.stdout, done.stdout


@contextmanager
def bridged(ground: Ground) -> Iterator[str]:
    """Serve ``restante mcp`` over HTTP: one message in, its answer out."""
    process = subprocess.Popen(
        COMMAND, cwd=ground.root, env=ground.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    written, read = process.stdin, process.stdout

    class Bridge(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).replace(b"\n", b" ")
            written.write(body + b"\n")
            written.flush()
            answer = read.readline() if b'"id"' in body else b""
            self.send_response(200 if answer else 202)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_GET(self) -> None:
            self.send_response(405)
            self.send_header("content-length", "0")
            self.end_headers()

        def do_DELETE(self) -> None:
            self.do_GET()

    server = HTTPServer(("127.0.0.1", 0), Bridge)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    finally:
        written.close()
        server.shutdown()
        server.server_close()
        process.wait(60)
        read.close()


def test_the_server_that_runs_conforms(conformance: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with running(tmp_path / "data") as server:
        url = f"{server.api().url}/mcp"
        for scenario in (*SCENARIOS, "dns-rebinding-protection"):
            check(conformance, url, scenario, tmp_path)


def test_the_server_that_programs_start_conforms(conformance: str, tmp_path: Path) -> None:
    with bridged(Ground(tmp_path)) as url:
        for scenario in SCENARIOS:
            check(conformance, url, scenario, tmp_path)
