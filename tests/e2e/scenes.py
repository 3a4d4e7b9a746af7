"""What several end-to-end scenarios have in common: a run beside the test, and a model that answers its mail."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.e2e.agents import Finished, start
from tests.e2e.model_server import DIALECTS, ModelServer, Request, Step, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from tests.e2e.agents import Agent

_MESSAGE_ID = re.compile(r"\bmsg_[0-9]{8}T[0-9]{6}_[0-9a-z]{26}\b")


def model_of(agent: Agent, *script: Step | Callable[[Request], Step]) -> ModelServer:
    """Return a model for an agent program; a context manager."""
    return ModelServer(DIALECTS[agent.name], script)


@contextmanager
def running(agent: Agent, server: ModelServer, cwd: Path) -> Iterator[Future[Finished]]:
    """Run an agent program beside the test; on leaving, wait until it has ended."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        yield pool.submit(start, agent, "Work on the task.", server, cwd)


def work(agent: Agent, server: ModelServer, cwd: Path) -> Finished:
    """Run an agent program until it ends, which must be well."""
    finished = start(agent, "Work on the task.", server, cwd)
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
