"""Which conversations Codex has, and what it says of its hooks; read through its App Server, changing nothing.

Field names are those of ``codex app-server generate-json-schema`` (0.171.0).
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from restante.agents.app_server import AppServer, find_codex
from restante.domain.session import Thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType
    from typing import Self

    # Within the class, `list` is its method.
    Hooks = list["HookState"]
    Objects = list[dict[str, object]]

# Unless all are named, the server leaves out what no person started; "subAgent" stands for all of its kinds.
_ALL_KINDS = ("cli", "vscode", "exec", "appServer", "subAgent", "unknown")
_KINDS_OF_OLD = _ALL_KINDS[:4]
_INVALID_REQUEST = -32600

_PAGE = 100
_PAGES = 20
_MOST_READ = 100
_TITLE = 80

_WORDS = {
    "notLoaded": "not loaded",
    "idle": "idle",
    "active": "active",
    "systemError": "system error",
    "waitingOnApproval": "waiting on approval",
    "waitingOnUserInput": "waiting on user input",
}


@dataclass(frozen=True, slots=True)
class HookState:
    """What Codex says of one hook.

    Attributes:
        key: Names it in Codex's configuration: file, event and position.
        event: When it runs, as in hooks.json, for example ``Stop``.
        command: The command line, or ``mcp <server>/<tool>``, or the kind of handler.
        trust_status: ``managed``, ``trusted``, ``untrusted`` or ``modified``; the last two are skipped in silence.
        enabled: Whether it is switched on.
        source_path: The file it is in.
    """

    key: str
    event: str
    command: str
    trust_status: str
    enabled: bool
    source_path: str


class CodexThreads:
    """Reads Codex's conversations (``ports.Threads``) and its hooks.

    Each question starts a server of its own, about half a second, and ends it; as a context manager all share one.
    The server that is asked is a private one: whether a conversation is active in another Codex process is
    known to it only as far as the program's own files tell.

    Args:
        program: The Codex program; empty to search for it, see ``find_codex``.
        environ: The environment; the process's own when ``None``.
        timeout: Seconds that one question may take.
    """

    def __init__(self, program: str = "", *, environ: Mapping[str, str] | None = None, timeout: float = 8.0) -> None:
        self._program = program
        self._environ = environ
        self._timeout = timeout
        self._shared: AppServer | None = None

    def list(self) -> list[Thread]:
        """Return the newest conversations, the most recently changed first; up to 2,000 saved ones.

        Raises:
            NothingThere: Codex is not to be found.
            StorageFailed: It did not answer as it should.
            Busy: It is overloaded.
            TimedOut: It did not answer in time.
        """
        with self._server() as server:
            loaded = [one for one in server.pages("thread/loaded/list", {}, most=_PAGES) if isinstance(one, str)]
            saved = _saved(server)
            threads = {one["id"]: one for one in saved if isinstance(one, dict) and isinstance(one.get("id"), str)}
            missing = [one for one in dict.fromkeys(loaded) if one not in threads][:_MOST_READ]
            threads |= {one: _read(server, one) for one in missing}
        in_memory = set(loaded)
        found = [_thread(one, in_memory) for one in threads.values()]
        return sorted(found, key=lambda one: one.updated or datetime.min.replace(tzinfo=UTC), reverse=True)

    def hooks(self, directory: str) -> Hooks:
        """Return the hooks that Codex sees in a directory, in its order.

        A project that the person has not trusted shows none of its hooks. Raises as ``list``.
        """
        return [
            _hook(hook)
            for entry in self._hook_entries(directory)
            for hook in _items(entry, "hooks")
            if isinstance(hook, dict)
        ]

    def close(self) -> None:
        """End the shared server, if there is one."""
        server, self._shared = self._shared, None
        if server is not None:
            server.close()

    def __enter__(self) -> Self:
        self._shared = self._shared or self._new_server()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _new_server(self) -> AppServer:
        return AppServer(find_codex(self._program, self._environ), environ=self._environ, timeout=self._timeout)

    @contextmanager
    def _server(self) -> Iterator[AppServer]:
        if self._shared is not None:
            yield self._shared
        else:
            with self._new_server() as server:
                yield server

    def _hook_entries(self, directory: str) -> Objects:
        with self._server() as server:
            answer = server.result("hooks/list", {"cwds": [directory]})
        return [entry for entry in _items(answer, "data") if isinstance(entry, dict)]


def _saved(server: AppServer) -> list[object]:
    asked = {"modelProviders": [], "limit": _PAGE, "sortKey": "updated_at", "sortDirection": "desc"}
    # One version's kinds are another version's errors; these four are the oldest.
    probe = server.ask("thread/list", asked | {"sourceKinds": list(_ALL_KINDS), "limit": 1})
    kinds = _KINDS_OF_OLD if probe.code == _INVALID_REQUEST else _ALL_KINDS
    return list(server.pages("thread/list", asked | {"sourceKinds": list(kinds)}, most=_PAGES))


def _read(server: AppServer, thread: str) -> dict[str, object]:
    """Return what is known of a loaded conversation that is not saved yet; only its id when it is gone."""
    answer = server.ask("thread/read", {"threadId": thread, "includeTurns": False})
    found = (answer.result or {}).get("thread")
    return found | {"id": thread} if isinstance(found, dict) else {"id": thread}


def _thread(one: Mapping[str, object], loaded: set[str]) -> Thread:
    return Thread(
        id=_text(one, "id"),
        agent="codex",
        title=_title(one),
        directory=_text(one, "cwd"),
        status=_status(one.get("status")),
        updated=_instant(one.get("updatedAt")),
        loaded=_text(one, "id") in loaded,
    )


def _title(one: Mapping[str, object]) -> str:
    text = _text(one, "name").strip() or _text(one, "preview").strip()
    line = " ".join(text[:1000].split("\n", 1)[0].split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"


def _status(status: object) -> str:
    """Say what the server says, in words; a word it learns later is passed on as it is."""
    if not isinstance(status, dict) or not _text(status, "type"):
        return "unknown"
    flags = [_WORDS.get(flag, flag) for flag in _items(status, "activeFlags") if isinstance(flag, str)]
    word = _text(status, "type")
    word = _WORDS.get(word, word)
    return f"{word}, {', '.join(flags)}" if flags else word


def _instant(seconds: object) -> datetime | None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _hook(hook: Mapping[str, object]) -> HookState:
    event = _text(hook, "eventName")
    command = _text(hook, "command")
    if not command and hook.get("server"):
        command = f"mcp {_text(hook, 'server')}/{_text(hook, 'tool')}"
    return HookState(
        key=_text(hook, "key"),
        event=event[:1].upper() + event[1:],
        command=command or _text(hook, "handlerType"),
        trust_status=_text(hook, "trustStatus"),
        enabled=hook.get("enabled") is True,
        source_path=_text(hook, "sourcePath"),
    )


def _text(one: Mapping[str, object], name: str) -> str:
    value = one.get(name)
    return value if isinstance(value, str) else ""


def _items(one: Mapping[str, object], name: str) -> list[object]:
    value = one.get(name)
    return value if isinstance(value, list) else []
