"""Running a server: where it listens, how it is found, how it ends."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import signal
import socket
import sys
import threading
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import uvicorn

from restante.domain.errors import Refused, UsageError
from restante.faces.http.app import Server
from restante.faces.http.connections import Connection, sweep
from restante.faces.http.guards import LOOPBACK_NAMES
from restante.faces.http.logs import Log
from restante.wiring.serving import announced, serving
from restante.wiring.sessions import open_exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from restante.exchange import Exchange

# For answers that are on their way; with what the worker and the open reads may take on top it is less than ten.
STOP_SECONDS = 5
_BACKLOG = 2048
# Files, databases and the like take some of what may be open; connections the rest.
_FILES_KEPT_BACK = 128
_MOST_CONNECTIONS = 4096
# Python looks for garbage once there are so many more objects; a request leaves hardly any that needs it.
_GARBAGE = 20_000


def run(environment: Mapping[str, str], *, host: str | None = None, port: int | None = None) -> None:
    """Serve until told to stop by SIGTERM or SIGINT.

    Args:
        environment: Where settings and places come from.
        host: Address to bind; ``server.host`` by default.
        port: Port to bind, 0 for any; ``server.port`` by default.

    Raises:
        BadConfig: The configuration has faults.
        Refused: Another server serves this data directory; or the address can be reached from other machines, and
            there is no account.
        UsageError: The address cannot be bound.
        StorageFailed: The data directory cannot be written.
    """
    from restante.config import load_settings

    settings = load_settings(environment)
    host = settings.server_host if host is None else host
    port = settings.server_port if port is None else port
    log = Log()
    with ExitStack() as stack:
        stack.callback(log.stop)
        stack.enter_context(serving(environment))
        bound = stack.enter_context(_bound(host, port))
        if not is_loopback(host):
            _check_accounts(environment, host)
        _raise_file_limit()
        Connection.most = _most_connections(settings.server_waits)
        begin = stack.enter_context(_receiving(environment, log))

        def opened() -> Exchange:
            exchange = open_exchange(environment, holds_mail=True)
            begin(exchange)
            return exchange

        server = Server(opened, host, log)
        asyncio.run(_serve(server, bound, environment, host))


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    if host in LOOPBACK_NAMES:
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


@contextmanager
def _receiving(environment: Mapping[str, str], log: Log) -> Iterator[Callable[[Exchange], None]]:
    """Give what begins to listen for what is armed, in a thread of its own; where nothing is, it only sleeps.

    It has databases of its own, but for mail: what an exchange holds in memory nobody else can look into.
    """
    from restante.wiring.receiving import Receivers

    receivers = Receivers(environment, say=lambda sentence: log.say("monitor", words=sentence))
    thread: threading.Thread | None = None

    def run() -> None:
        try:
            receivers.run()
        except Exception as error:  # noqa: BLE001  it is written down; the mail goes on
            log.fault("fault", error, route="monitor")

    def begin(exchange: Exchange) -> None:
        nonlocal thread
        receivers.look_into(exchange.keeping)
        thread = threading.Thread(target=run, name="restante-receivers", daemon=True)
        thread.start()

    try:
        yield begin
    finally:
        receivers.stop()
        if thread is not None:
            thread.join(STOP_SECONDS)


async def _serve(server: Server, bound: socket.socket, environment: Mapping[str, str], host: str) -> None:
    server.log.take_over(asyncio.get_running_loop())
    app = await server.start()
    # Nearly all that there is now stays: looking through it again and again finds nothing that is not needed any more.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    url = url_of(host, bound.getsockname()[1])
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        loop="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    runner = _Runner(config, server, environment, url)
    await runner.serve(sockets=[bound])


class _Runner(uvicorn.Server):
    """A uvicorn server that is found, that frees who waits before it ends, and that ends with 0 when told to end."""

    def __init__(self, config: uvicorn.Config, server: Server, environment: Mapping[str, str], url: str) -> None:
        super().__init__(config)
        self._server = server
        self._environment = environment
        self._url = url
        self._stack = ExitStack()
        self._sweeper: asyncio.Task[None] | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGTERM and SIGINT. Unlike the original it does not raise them again: a stop is no failure."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(ValueError, RuntimeError, NotImplementedError):
                loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        self._sweeper = asyncio.get_running_loop().create_task(sweep(self.server_state.connections))
        self._stack.enter_context(announced(self._environment, self._url))
        self._server.log.say("listening", url=self._url)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Be found no more, let everyone go who waits, answer what was asked, and write down what is to be."""
        self._server.log.say("stopping", waiting=len(self._server.office.waits))
        self._stack.close()
        self._server.release()
        try:
            await super().shutdown(sockets)
        finally:
            if self._sweeper is not None:
                self._sweeper.cancel()
            await self._server.stop()
            self._server.log.say("stopped")


def url_of(host: str, port: int) -> str:
    """Return where a server that binds this address is reached from this machine."""
    with suppress(ValueError):
        address = ipaddress.ip_address(host)
        if address.is_unspecified:
            host = "::1" if address.version == 6 else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, number)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{host!r} is no address here: {error}", remedy="give another --host") from error
    with listener:
        try:
            # A port that was used a moment ago may be used again; one that is in use may not.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError as error:
            raise UsageError(
                f"{host}:{port} cannot be bound: {error.strerror or error}", remedy="give another --port, or 0 for any"
            ) from error
        listener.setblocking(False)
        yield listener


def _check_accounts(environment: Mapping[str, str], host: str) -> None:
    exchange = open_exchange(environment)
    try:
        are_there = bool(exchange.accounts.names())
    finally:
        exchange.close()
    if not are_there:
        raise Refused(
            f"{host} can be reached from other machines, and there is no account: everyone could read all mail",
            remedy="add one first: restante account add NAME; or bind 127.0.0.1",
        )


def _raise_file_limit() -> None:
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _most_connections(waits: int) -> int:
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(64, min(files - _FILES_KEPT_BACK, waits + _MOST_CONNECTIONS))


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Run the command line of ``python -m restante.faces.http``; ``restante serve`` becomes it."""
    import argparse

    from restante.domain.errors import RestanteError

    parser = argparse.ArgumentParser(prog="restante serve", description="Serve the mail between sessions over HTTP.")
    parser.add_argument("--host", help="address to bind")
    parser.add_argument("--port", type=int, help="port to bind; 0 for any")
    parser.add_argument("--systemd", action="store_true", help="print a unit for systemd and end")
    parser.add_argument("--launchd", action="store_true", help="print a property list for launchd and end")
    given = parser.parse_args(words)
    if given.systemd or given.launchd:
        print_unit(given, environment)
        return 0
    try:
        run(environment, host=given.host, port=given.port)
    except RestanteError as error:
        sys.stderr.write(f"restante: {error.message}\n")
        if error.remedy:
            sys.stderr.write(f"  {error.remedy}\n")
        return error.exit_code
    return 0


def print_unit(given: Any, environment: Mapping[str, str]) -> None:  # noqa: ANN401
    """Print a unit file for the server that these words would run."""
    from restante.faces.http.units import launchd_plist, systemd_unit

    command = [sys.executable, "-I", "-m", "restante.faces.http"]
    command += ["--host", given.host] if given.host is not None else []
    command += ["--port", str(given.port)] if given.port is not None else []
    sys.stdout.write(systemd_unit(command, environment) if given.systemd else launchd_plist(command, environment))
