"""What the server costs: durable posts against an empty handler, long mailboxes, waits, memory, the way up."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import signal
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from bench.client import Client
from bench.table import Row

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

TEXT = "Please run the tests of the billing module and tell me what fails, with the first line of each. " * 2
CLIENTS = 16
# Long enough to be a rate, short enough to take turns with what it is compared with.
_SECONDS = 1.0


class Served:
    """A server in a process of its own.

    Attributes:
        port: Where it listens.
        pid: Its process.
        cpu_to_first_answer: Seconds of processor time it took to come up and answer.
    """

    def __init__(self, place: str, name: str, **settings: str) -> None:
        self.data = os.path.join(place, name)
        roomy = {
            "RESTANTE_SERVER_RATE": "1000000",
            "RESTANTE_SESSIONS_MESSAGES": "100000",
            "RESTANTE_SESSIONS_BYTES": "1000000000",
            "RESTANTE_SESSIONS_SHARE": "1",
            "RESTANTE_SERVER_WAITS_PER_OWNER": "2000",
        }
        self._environment = {"HOME": place, "PATH": os.environ["PATH"], "RESTANTE_DATA": self.data, **roomy, **settings}
        command = [sys.executable, "-I", "-m", "restante.faces.http", "--port", "0"]
        self._process = subprocess.Popen(command, env=self._environment, stderr=subprocess.PIPE, text=True)
        self.port = self._port()
        self.pid = self._process.pid
        asyncio.run(Client(self.port).ask("GET", "/health"))
        self.cpu_to_first_answer = self._cpu()
        with open(os.path.join(self.data, "person"), encoding="ascii") as file:
            self.token = file.read().strip()

    def _port(self) -> int:
        path = os.path.join(self.data, "server.json")
        for _ in range(1000):
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    if found := re.search(r"127\.0\.0\.1:(\d+)", file.read()):
                        return int(found.group(1))
            time.sleep(0.01)
        raise RuntimeError("the server did not come up")

    def _cpu(self) -> float:
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_kib(self) -> int:
        """Return how much memory it holds, in KiB."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return int(file.read().split("VmRSS:", 1)[1].split()[0])

    def stop(self) -> None:
        """End it."""
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate(timeout=30)


@contextmanager
def served(place: str, name: str, **settings: str) -> Iterator[Served]:
    """Run a server that keeps mail on disk."""
    server = Served(place, name, **settings)
    try:
        person = Client(server.port, server.token)
        asyncio.run(_once(person, "PUT", "/settings/persistence", {"on": True}))
        yield server
    finally:
        server.stop()


async def _once(client: Client, method: str, path: str, body: object = None) -> object:
    answer = await client.ask(method, path, body)
    await client.close()
    return answer


async def register(port: int, name: str) -> Client:
    """Register a session and return a connection that is proven to be it."""
    secret = secrets.token_hex(32)
    client = Client(port, secret)
    await client.ask("POST", "/sessions", {"id": name, "secretDigest": sha256(secret.encode()).hexdigest()})
    return client


def messages_of(answer: dict[str, object]) -> list[dict[str, object]]:
    """Return the messages of a read."""
    messages = answer["messages"]
    assert isinstance(messages, list)
    return messages


async def _rate(clients: list[Client], ask: Callable[[Client, int], Awaitable[object]]) -> float:
    """Return the requests per second of clients that each ask one after the other."""
    end = time.perf_counter() + _SECONDS
    count = 0

    async def go(place: int, client: Client) -> None:
        nonlocal count
        while time.perf_counter() < end:
            await ask(client, place)
            count += 1

    began = time.perf_counter()
    await asyncio.gather(*(go(place, client) for place, client in enumerate(clients)))
    return count / (time.perf_counter() - began)


def posting(place: str, runs: int) -> list[Row]:
    """Measure durable posts: 16 clients against an empty handler, one client against the disk.

    One client waits for the way to the server and back, and then for the disk: what an empty answer takes it is a part
    of every post, however fast that is. So it is told beside it, and the post is compared with the two together, too.
    """

    async def measure(port: int) -> tuple[list[float], ...]:
        senders = [await register(port, f"sender-{n:02}-000000") for n in range(CLIENTS)]
        for n in range(CLIENTS):
            await register(port, f"reader-{n:02}-000000")

        def post(client: Client, n: int) -> Awaitable[object]:
            return client.ask("POST", f"/sessions/reader-{n:02}-000000/inbox", {"text": TEXT})

        def nothing(client: Client, _: int) -> Awaitable[object]:
            return client.ask("GET", "/health")

        empty, posts, alone, answer, disk = [], [], [], [], []
        for _ in range(max(3, runs // 3)):
            empty.append(await _rate(senders, nothing))
            posts.append(await _rate(senders, post))
            alone.append(await _rate(senders[:1], post))
            answer.append(await _rate(senders[:1], nothing))
            disk.append(fsyncs(place))
        return empty, posts, alone, answer, disk

    with served(place, "posting") as server:
        empty, posts, alone, answer, disk = (statistics.median(one) for one in asyncio.run(measure(server.port)))
    both = 1 / (1 / answer + 1 / disk)
    return [
        Row(
            "durable posts, 16 clients", posts, "1/s", f"empty handler ({empty:.0f}/s)", posts / empty, "at least 0.5x"
        ),
        Row("durable posts, 1 client", alone, "1/s", f"write + fsync ({disk:.0f}/s)", alone / disk, "at least 0.5x"),
        Row("  an empty answer to 1 client", answer, "1/s", f"write + fsync ({disk:.0f}/s)", answer / disk, ""),
        Row("  the posts", alone, "1/s", f"an empty answer, then write + fsync ({both:.0f}/s)", alone / both, ""),
    ]


def fsyncs(place: str) -> float:
    """Return how many appends of one post's size the disk makes durable in a second, one after the other."""
    fd = os.open(os.path.join(place, "disk"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < _SECONDS / 2:
        os.write(fd, TEXT.encode())
        os.fsync(fd)
        count += 1
    taken = time.perf_counter() - began
    os.close(fd)
    return count / taken


def reading(place: str, runs: int) -> list[Row]:
    """Measure reading 50 of 10,000 pending messages against 50 of 50."""

    async def measure(port: int) -> tuple[float, float]:
        sender = await register(port, "sender-00000000")
        times: dict[str, list[float]] = {"short": [], "long": []}
        readers = {name: await register(port, f"{name}-00000000") for name in times}
        for name, many in (("short", 50), ("long", 10_000)):
            writers = [sender, *[Client(port) for _ in range(CLIENTS - 1)]]
            share = [many // CLIENTS + (n < many % CLIENTS) for n in range(CLIENTS)]

            async def fill(client: Client, count: int, to: str = name) -> None:
                for _ in range(count):
                    await client.ask("POST", f"/sessions/{to}-00000000/inbox", {"text": TEXT})

            await asyncio.gather(*map(fill, writers, share))
        for _ in range(runs * 10):
            for name, reader in readers.items():
                began = time.perf_counter()
                answer = await reader.ask("GET", f"/sessions/{name}-00000000/inbox?limit=50")
                times[name].append((time.perf_counter() - began) * 1000)
                assert len(messages_of(answer)) == 50
        return statistics.median(times["short"]), statistics.median(times["long"])

    with served(place, "reading") as server:
        short, long = asyncio.run(measure(server.port))
    return [Row("read 50 of 10,000 pending", long, "ms", f"50 of 50 ({short:.2f} ms)", long / short, "at most 1.5x")]


async def wakes(post_at: int, read_at: int, rounds: int) -> float:
    """Return the median of milliseconds from before a post at one server until a read that waits at another is over."""
    sender, reader = await register(post_at, "sender-00000000"), await register(read_at, "reader-00000000")
    taken = []
    for _ in range(rounds):
        wait = asyncio.create_task(reader.ask("GET", "/sessions/reader-00000000/inbox?wait=30000"))
        await asyncio.sleep(0.05)
        began = time.perf_counter()
        post = asyncio.create_task(sender.ask("POST", "/sessions/reader-00000000/inbox", {"text": TEXT}))
        answer = await wait
        taken.append((time.perf_counter() - began) * 1000)
        await post
        ids = [one["id"] for one in messages_of(answer)]
        await reader.ask("POST", "/sessions/reader-00000000/inbox/ack", {"ids": ids})
    return statistics.median(taken)


def waiting(place: str, runs: int) -> list[Row]:
    """Measure the way from a post to the wait it frees, and what 1,000 waits weigh."""

    async def weigh(server: Served, waits: int) -> float:
        readers = [await register(server.port, f"waiter-{n:04}-000000") for n in range(waits)]
        before = server.resident_kib()
        parked = [
            asyncio.create_task(reader.ask("GET", f"/sessions/waiter-{n:04}-000000/inbox?wait=60000"))
            for n, reader in enumerate(readers)
        ]
        await asyncio.sleep(3)
        after = server.resident_kib()
        for one in parked:
            one.cancel()
        await asyncio.gather(*parked, return_exceptions=True)
        return (after - before) / waits

    with served(place, "waiting") as server:
        wake = asyncio.run(wakes(server.port, server.port, runs * 4))
    with served(place, "weighing") as server:
        weight = asyncio.run(weigh(server, 1000))
    return [
        Row("post to freed wait", wake, "ms", "", None, "at most 5 ms"),
        Row("memory of one of 1,000 waits", weight, "KiB", "", None, "at most 20 KiB"),
    ]


def coming_up(place: str, runs: int) -> list[Row]:
    """Measure what it takes to come up, and what an idle server holds."""
    cpu, held = [], []
    for n in range(max(3, runs // 5)):
        with served(place, f"up-{n}") as server:
            cpu.append(server.cpu_to_first_answer)
            held.append(server.resident_kib() / 1024)
    return [
        Row("server: start to first answer", statistics.median(cpu), "s CPU", "", None, "at most 1 s"),
        Row("server: memory when idle", statistics.median(held), "MiB", "", None, "at most 80 MB"),
    ]


PARTS = (coming_up, posting, reading, waiting)
