"""A running server for a module, and what most tests want of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.faces.http.api import Actor, Api, Running, running

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server on real files, as many tests share it as are in a module."""
    with running(tmp_path_factory.mktemp("data"), RESTANTE_SERVER_RATE="100000") as one:
        one.api()
        yield one


@pytest.fixture(scope="module")
def api(server: Running) -> Api:
    return server.api()


@pytest.fixture
def alice(api: Api) -> Actor:
    """Who mail is for."""
    return api.actor()


@pytest.fixture
def bob(api: Api) -> Actor:
    """Who writes it."""
    return api.actor()
