"""Where the window may go: to the pages of its server, and nowhere else."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

ROOT = "/ui"
# The one link of a page that the window answers itself.
FOLDER = f"{ROOT}/desktop/folder"

_OVERVIEW = f"{ROOT}/"
_WORKTREES = f"{ROOT}/worktrees"
_MAILBOX = f"{ROOT}/mailbox"
_OF_WORKTREE = "worktree:"
_PORTS = {"http": 80, "https": 443}


class Fate(Enum):
    """What becomes of a way that a page wants to go."""

    HERE = "in the window"
    FOLDER = "the person is asked for a folder"
    BROWSER = "in the person's browser"
    NOWHERE = "refused"


class Origin(NamedTuple):
    """Whose page it is."""

    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """As the beginning of an address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def origin_of(url: str) -> Origin | None:
    """Return whose page an address names; ``None`` where it is none of the web's, or says who asks."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc or "\\" in url:
        return None
    return Origin(parts.scheme, parts.hostname, port or _PORTS[parts.scheme])


def bare(url: str) -> str:
    """Return an address without the name and password that may stand in it."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def fate_of(url: str, own: Origin, *, is_click: bool, is_main: bool) -> Fate:
    """Tell what becomes of a way that a page wants to go.

    Args:
        url: Where to, as the browser writes it.
        own: The server of the window.
        is_click: Whether the person clicked on a link.
        is_main: Whether the whole page would go there, not a frame of it.
    """
    origin = origin_of(url)
    if origin is None or not is_main:
        return Fate.NOWHERE
    if origin != own:
        return Fate.BROWSER if is_click else Fate.NOWHERE
    path = urlsplit(url).path
    if path == FOLDER:
        return Fate.FOLDER if is_click else Fate.NOWHERE
    # The parts of the server that are for programs are no pages.
    return Fate.HERE if path == ROOT or path.startswith(f"{ROOT}/") else Fate.NOWHERE


def page_of(own: Origin, worktree: str) -> str:
    """Return the address of a worktree's page; of the overview without one."""
    path = f"{_WORKTREES}?path={quote(worktree, safe='')}" if worktree else _OVERVIEW
    return own.url + path


def worktree_at(url: str) -> str | None:
    """Return the worktree that a page is about: empty for the overview, ``None`` where a page says nothing of it."""
    parts = urlsplit(url)
    if parts.path == _OVERVIEW:
        return ""
    if parts.path == _WORKTREES:
        return parse_qs(parts.query).get("path", [None])[0]
    if parts.path == _MAILBOX:
        address = parse_qs(parts.query).get("at", [""])[0]
        return address.removeprefix(_OF_WORKTREE) if address.startswith(_OF_WORKTREE) else None
    return None
