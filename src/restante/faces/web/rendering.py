"""How a page becomes HTML: by templates that escape whatever they are given."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, Response

from restante.domain.duration import format_duration
from restante.domain.registry import brief
from restante.domain.text import age, iso, visible
from restante.faces.web.texts import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from restante.faces.web.entering import Visitor

# No script or style but our own files, no other site within a page nor around it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With none at all a browser calls the origin of a form "null", which the guards refuse.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "cache-control": "no-store",
}
_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
}
ROOT = "/ui"


def page(name: str, values: Mapping[str, Any], visitor: Visitor | None = None, *, status: int = 200) -> Response:
    """Return a page, or a part of one.

    Args:
        name: Its template.
        values: What the template shows; texts of others are escaped there.
        visitor: Who looks, for the forms in it.
        status: The HTTP status.
    """
    given = {"csrf": visitor.csrf if visitor else "", "owner": visitor.owner if visitor else "", "visitor": visitor}
    return HTMLResponse(_environment().get_template(name).render(given | dict(values)), status, headers=HEADERS)


def asset(name: str) -> Response | None:
    """Return a file that pages load; ``None`` where there is none of that name."""
    found = _assets().get(name)
    if found is None:
        return None
    data, kind = found
    # The address of an asset changes with its content.
    return Response(data, media_type=kind, headers=HEADERS | {"cache-control": "public, max-age=31536000, immutable"})


def asset_url(name: str) -> str:
    """Return the address of an asset, which changes when its content does.

    Raises:
        KeyError: There is none of that name.
    """
    return f"{ROOT}/static/{name}?v={hashlib.sha256(_assets()[name][0]).hexdigest()[:12]}"


@cache
def _assets() -> dict[str, tuple[bytes, str]]:
    here = files("restante.faces.web") / "static"
    found = {one.name: one.read_bytes() for one in here.iterdir() if one.name.rpartition(".")[2] in _TYPES}
    return {name: (data, _TYPES[name.rpartition(".")[2]]) for name, data in found.items()}


@cache
def _environment() -> Environment:
    here = files("restante.faces.web") / "templates"
    sources = {one.name: one.read_text("utf-8") for one in here.iterdir() if one.name.endswith(".html")}
    environment = Environment(
        loader=DictLoader(sources),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {"t": text, "asset": asset_url, "root": ROOT}
    environment.filters |= {
        "marked": _marked,
        "ago": _ago,
        "brief": brief,
        "iso": _iso,
        "lasting": _lasting,
        "named": _named,
        "lasting_of": format_duration,
        "when": _when,
        "visible": visible,
    }
    return environment


def _marked(text: str, words: Sequence[str]) -> Markup:
    """Return a text in which words stand out. What is no mark of ours is escaped."""
    shown = visible(text)
    if not words:
        return escape(shown)
    pieces = re.split(f"({'|'.join(map(re.escape, words))})", shown, flags=re.IGNORECASE)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(one) if place % 2 else escape(one) for place, one in enumerate(pieces)
    )


def _ago(then: datetime | None, now: datetime) -> str:
    return age(then, now) if then else text("time.never")


def _named(word: str) -> str:
    """Return the name of a measure or an effect as words."""
    return visible(word.removeprefix("max_").replace("_", " "))


def _when(then: datetime | None, now: datetime) -> Markup:
    """Return a time in words, with the exact one beside it; how much of it is shown, a choice of the reader says."""
    if then is None:
        return escape(text("time.never"))
    exact = f"{then:%Y-%m-%d %H:%M:%S} UTC"
    return Markup('<time datetime="{0}" title="{1}"><span>{2}</span> <span class="exact">{1}</span></time>').format(
        iso(then), exact, age(then, now)
    )


def _lasting(milliseconds: int) -> str:
    return format_duration(timedelta(milliseconds=milliseconds))


def _iso(time: datetime | None) -> str:
    return iso(time) if time else ""
