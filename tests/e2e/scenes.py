"""What several end-to-end scenarios have in common: a run beside the test, and a model that answers its mail."""

from __future__ import annotations

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.agents import Finished, start
from tests.e2e.model_server import DIALECTS, ModelServer, Request, Step, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from tests.e2e.agents import Agent
    from tests.e2e.worktree import Worktree

_ORIGINAL = "codexpigeon_mailbox_hook.py"
_MESSAGE_ID = re.compile(r"\bmsg_[0-9]{8}T[0-9]{6}_[0-9a-z]{26}\b")


def model_of(agent: Agent, *script: Step | Callable[[Request], Step]) -> ModelServer:
    """Return a model for an agent program; a context manager."""
    return ModelServer(DIALECTS[agent.name], script)


@contextmanager
def running(agent: Agent, server: ModelServer, cwd: Path) -> Iterator[Future[Finished]]:
    """Run an agent program beside the test; on leaving, wait until it has ended."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        yield pool.submit(start, agent, "Work on the task.", server, cwd)


def work(agent: Agent, server: ModelServer, cwd: Path, *options: str) -> Finished:
    """Run an agent program until it ends, which must be well."""
    finished = start(agent, "Work on the task.", server, cwd, *options)
    assert finished.code == 0, finished.out + finished.err
    return finished


def messages_in(request: Request) -> list[str]:
    """Return the ids of the messages that a request mentions, each once."""
    return list(dict.fromkeys(_MESSAGE_ID.findall(request.prompt)))


def acknowledge(request: Request) -> Step:
    """Be a model that does what its mail asks for, and says so."""
    ids = " ".join(messages_in(request))
    assert ids, "no message was shown to the model"
    return run(f"restante ack {ids} --decision accepted --action applied -m 'Done as asked'")


def install_original(worktree: Worktree, hooks_file: str) -> None:
    """Put the stand-in where the original program puts its hook, and its entries before any others."""
    script = worktree.root / ".codex" / "hooks" / _ORIGINAL
    script.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("original_hook.py"), script)
    command = f'python3 "$(git rev-parse --show-toplevel 2>/dev/null || pwd)/.codex/hooks/{_ORIGINAL}"'
    file = worktree.root / hooks_file
    file.parent.mkdir(exist_ok=True)
    settings = json.loads(file.read_text()) if file.exists() else {}
    for event, matcher in (("SessionStart", None), ("PostToolUse", "Bash|apply_patch|mcp__.*"), ("Stop", None)):
        entry = {"type": "command", "command": command, "timeout": 10, "statusMessage": "Checking CodexPigeon mailbox"}
        group = {"hooks": [entry]} if matcher is None else {"matcher": matcher, "hooks": [entry]}
        settings.setdefault("hooks", {}).setdefault(event, []).insert(0, group)
    file.write_text(json.dumps(settings, indent=2))
