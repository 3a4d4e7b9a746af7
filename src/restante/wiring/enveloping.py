"""Compiles, shows and clears ``state/active_envelope.json``: what an agent's running task may do."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.envelope import CONSOLE, Adapter, Compiled, compile_envelope, detect_adapter, with_counters
from restante.autonomy.policy import parse_policy
from restante.domain.errors import NothingThere, Refused, RestanteError, Unreadable, UsageError
from restante.stores.files import flocked, read_file, remove, replace
from restante.stores.oacp.layout import AGENTS, PROJECTS, STATE, Tree
from restante.stores.oacp.reading import MOST_BYTES, read_typed
from restante.wiring.checking import book_of
from restante.wiring.intake import FileParts, GateFiles, load_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from restante.domain.intake import Intake as Taken
    from restante.ports import Clock

_WAIT_SECONDS = 10.0


class Order(NamedTuple):
    """What is to be compiled.

    Attributes:
        message: The message's file.
        config: The receiver's policy; its own where empty.
        audit: The admission's record, which is told what is enforced; empty for none.
        extend: Whether an envelope that is there goes on counting.
        force: Whether an envelope of another message may be replaced.
    """

    message: str
    config: str = ""
    audit: str = ""
    extend: bool = False
    force: bool = False


class NotCompiled(RestanteError):
    """No envelope can be made of a message: the task must be paused."""

    code = "envelope_compile_error"
    exit_code = 3


class Envelopes:
    """The envelope of one agent.

    Raises:
        UsageError: A name would lead out of the tree.
        NothingThere: There is no such project or agent.
    """

    def __init__(self, home: str, project: str, receiver: str, clock: Clock, environment: Mapping[str, str]) -> None:
        self._tree = Tree(home)
        self._tree.check_agent(project, receiver)
        self._home = home
        self._project = project
        self._receiver = receiver
        self._clock = clock
        self._environment = environment
        self._agent = self._tree.path(PROJECTS, project, AGENTS, receiver)
        self.path = os.path.join(self._agent, STATE, "active_envelope.json")

    def show(self) -> dict[str, object]:
        """Return the envelope.

        Raises:
            NothingThere: There is none.
            Unreadable: It cannot be understood.
        """
        data = read_file(self.path)
        if data is None:
            raise NothingThere(f"No active envelope at {self.path}")
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"{self.path}: {error}", remedy="envelope clear") from None
        if not isinstance(value, dict):
            raise Unreadable(f"{self.path} holds no envelope", remedy="envelope clear")
        return value

    def clear(self) -> bool:
        """Remove the envelope; tell whether there was one."""
        with self._locked():
            is_there = os.path.lexists(self.path)
            if is_there:
                remove(self.path)
            return is_there

    def compile(self, order: Order) -> Compiled:
        """Make the envelope of a message and put it in place.

        Raises:
            NotCompiled: None can be made.
            Refused: The message is held, or an envelope of another message is there.
        """
        parts = FileParts(
            GateFiles(
                order.config or os.path.join(self._agent, "config.yaml"), order.message, self._receiver, self._home
            ),
            self._clock,
            self._environment,
        )
        taken = self._taken(parts, order.message)
        policy = parts.policy
        record = None
        if order.audit:
            book, name = book_of(order.audit)
            record = book.read(name)
            if record.get("message_sha256") != taken.digest:
                raise Refused(f"{order.audit} is about other bytes than {order.message}")
        compiled = compile_envelope(
            taken.fields or {},
            taken.digest,
            parse_policy(policy.config),
            policy.config,
            load=load_yaml,
            project=self._project,
            receiver=self._receiver,
            adapter=self._adapter(),
            now=self._clock.now(),
            admission=record,
            session_id=self._environment.get("CLAUDE_CODE_SESSION_ID") or None,
        )
        if compiled.error:
            raise NotCompiled(compiled.error)
        if compiled.envelope is not None:
            compiled = self._put(compiled, order)
        if order.audit:
            self._stamp(order.audit, compiled)
        return compiled

    def _taken(self, parts: FileParts, message: str) -> Taken:
        from restante.intake import Intake

        taken = Intake(parts).read(message)
        if taken.is_held:
            raise Refused(f"{message} is held: {taken.policy_error or 'its signature does not hold'}")
        if taken.fields is None:
            raise UsageError(f"message {message}: {taken.error}")
        return taken

    def _put(self, compiled: Compiled, order: Order) -> Compiled:
        with self._locked():
            envelope = compiled.envelope or {}
            try:
                before = self.show()
            except NothingThere:
                before = None
            except Unreadable:
                if not order.force:
                    raise
                before = None
            is_other = before is not None and before.get("message_id") != envelope.get("message_id")
            if is_other and not (order.force or order.extend):
                named = before.get("message_id") if before else ""
                raise Refused(f"an envelope of {named!r} is active", remedy="--extend, --force, or envelope clear")
            if before is not None and order.extend:
                envelope = with_counters(envelope, before)
            replace(self.path, (json.dumps(envelope, indent=2) + "\n").encode())
            os.chmod(self.path, 0o600)
            return compiled._replace(envelope=envelope)

    def _stamp(self, audit: str, compiled: Compiled) -> None:
        book, name = book_of(audit)

        def edit(record: dict[str, object], _: Sequence[Mapping[str, object]]) -> dict[str, object]:
            result = record.get("result")
            told = dict(result) if isinstance(result, dict) else {}
            changed: dict[str, object] = {}
            for key, value in told.items():
                if key == "envelope_enforcement_reason":
                    continue
                changed[key] = value
                if key == "envelope_enforcement":
                    changed[key] = "none" if compiled.reason else "hooks"
                    if compiled.reason:
                        changed["envelope_enforcement_reason"] = compiled.reason
            return {**record, "result": changed}

        book.change(name, edit)

    def _locked(self) -> flocked:
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        return flocked(self.path + ".lock", _WAIT_SECONDS)

    def _adapter(self) -> Adapter:
        """Look whether the agent's program asks before each step."""
        try:
            runtime = self._runtime()
            if runtime != "claude":
                return detect_adapter(runtime)
            has_console = shutil.which(CONSOLE, path=self._environment.get("PATH", os.defpath)) is not None
            return detect_adapter(runtime, has_console=has_console, is_registered=self._is_registered())
        except (OSError, ValueError, RestanteError) as error:
            return detect_adapter("claude", fault=str(error))

    def _runtime(self) -> str | None:
        data = read_file(os.path.join(self._agent, "agent_card.yaml"), most=MOST_BYTES)
        card = read_typed(data) if data else None
        runtime = card.get("runtime") if isinstance(card, dict) else None
        return runtime if isinstance(runtime, str) else None

    def _is_registered(self) -> bool:
        data = read_file(self._tree.path(PROJECTS, self._project, "workspace.json"), most=MOST_BYTES)
        place = json.loads(data or b"{}").get("repo_path")
        if not isinstance(place, str) or not place:
            return False
        settings = read_file(os.path.join(place, ".claude", "settings.json"), most=MOST_BYTES)
        hooks = json.loads(settings or b"{}").get("hooks", {}).get("PreToolUse", [])
        return any(CONSOLE in str(one.get("command")) for group in hooks for one in group.get("hooks", []))
