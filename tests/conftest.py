"""Fixtures that every part shares, and how hard hypothesis tries."""

from __future__ import annotations

import itertools
import os
import random
import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("restante.testing")

from restante.testing import FakeClock, MemoryMailbox, SequentialIds  # noqa: E402 - after the rewrite is registered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.postgres import Server

_numbers = itertools.count(1)

# No deadline anywhere: a busy machine is not a fault.
settings.register_profile("fast", max_examples=15, stateful_step_count=20, deadline=None)
settings.register_profile("dev", max_examples=40, stateful_step_count=30, deadline=None)
settings.register_profile("ci", max_examples=200, stateful_step_count=50, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_configure() -> None:
    """Let what tests start be interrupted; draw what tests/chaos goes by, for all workers.

    Whoever sets the seed gets the same again.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # As a shell leaves it for what it starts in the background; every program started from here would inherit it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.setdefault("RESTANTE_TEST_CHAOS_SEED", str(random.randrange(10**9)))


def pytest_report_header() -> str:
    """Tell it."""
    return f"chaos: RESTANTE_TEST_CHAOS_SEED={os.environ['RESTANTE_TEST_CHAOS_SEED']}"


@pytest.fixture
def clock() -> FakeClock:
    """A clock that stands still until the test moves it."""
    return FakeClock()


@pytest.fixture
def ids() -> SequentialIds:
    """Ids that count up."""
    return SequentialIds()


@pytest.fixture
def memory_mailbox(clock: FakeClock, ids: SequentialIds) -> MemoryMailbox:
    """An empty mailbox in memory, on the test's clock."""
    return MemoryMailbox("worktree:/somewhere", clock, ids)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A PostgreSQL server that the tests of one process share."""
    from tests import postgres

    if reason := postgres.reason_to_skip():
        pytest.skip(reason)
    with postgres.running() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: Server) -> str:
    """The URL of an empty database of the test's own."""
    name = f"test_{next(_numbers)}"
    postgres_server.run(f"CREATE DATABASE {name}")
    return postgres_server.url(name)
