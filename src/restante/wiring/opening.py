"""The way from a terminal to the page: a key for the browser, from the server that lives, for whoever is the person."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from restante.config import load_settings
from restante.domain.errors import Forbidden, NothingThere, Refused, Unreachable
from restante.system.identity import caller_of, program_above
from restante.system.listeners import is_anothers
from restante.system.places import data_directory
from restante.system.secrets import person_token
from restante.system.transport import Transport, basic_header, place_of
from restante.wiring.serving import live_server

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOOK_SECONDS = 0.1


def check_no_agent(environment: Mapping[str, str], what: str) -> None:
    """Check that no agent program asks for what is a person's.

    Args:
        environment: What names the caller.
        what: What is asked for, in words.

    Raises:
        Refused: One does.
    """
    if caller_of(environment).is_agent or program_above(environment):
        raise Refused(f"{what} is for the person, and an agent asks for it", remedy="restante ls shows the same")


def server_of(environment: Mapping[str, str]) -> str:
    """Return where the server answers that is configured, or lives on this machine; empty where there is none."""
    return load_settings(environment).server_url or live_server(environment)


def page_url(environment: Mapping[str, str], *, wait: float = 0.0) -> str:
    """Return an address by which a browser enters the page, once, within a minute.

    Args:
        environment: Where settings, places and the caller's identity come from.
        wait: Wait so many seconds for a server to be there.

    Raises:
        NothingThere: No server runs.
        Refused: An agent asks; the page is the person's.
        Unauthorized: The server does not take the caller for the person.
        Unreachable: The server does not answer, or has no pages.
    """
    check_no_agent(environment, "the page")
    url = _server(environment, wait)
    place = place_of(url)
    if not place.keeps_secrets:
        raise Refused(f"what opens the page could be read on the way to {url}", remedy="use https, or a tunnel")
    headers = basic_header(place) or {"Authorization": f"Bearer {person_token(data_directory(environment))}"}
    answer: Any = Transport(place, headers).ask("POST", "/ui/key", body={}, is_safe=False)
    path = answer.get("path") if isinstance(answer, dict) else None
    if not isinstance(path, str) or not path.startswith("/ui/"):
        raise Unreachable(f"{url} has no pages", remedy="it may be of another version: restart it")
    return url.rstrip("/") + path


def check_own_browser(client: tuple[str, int] | None, server: tuple[str, int | None] | None) -> None:
    """Check that it is not another user of this machine who comes with a way in.

    The address stands among the words of the browser's process, where all users can read it.

    Args:
        client: Address and port of who connected; ``None`` for unknown.
        server: The same of the server.

    Raises:
        Forbidden: It is another user.
    """
    if client and server and server[1] and is_anothers(client, (server[0], server[1])):
        raise Forbidden("another user of this machine came with this way in", remedy="restante ui, for one of your own")


def _server(environment: Mapping[str, str], wait: float) -> str:
    end = time.monotonic() + wait
    while True:
        url = server_of(environment)
        if url:
            return url
        if time.monotonic() >= end:
            raise NothingThere("no server runs here", remedy="restante ui starts one; or restante serve")
        time.sleep(_LOOK_SECONDS)
