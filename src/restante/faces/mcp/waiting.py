"""Waiting for mail where nothing else is served meanwhile: in slices, so that a program hears of it and can end it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from restante import desk as desks
from restante.domain.errors import RestanteError
from restante.faces.mcp import acts
from restante.faces.mcp.arguments import seconds_in
from restante.faces.mcp.telling import check_session, failed
from restante.wiring import closing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from restante.domain.overview import Reading
    from restante.faces.mcp.telling import Place, Told
    from restante.ports.sessions import Window

SLICE_SECONDS = 5.0


class _Passing:
    """The caller's window for one question: what it opened is closed with the answer."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def read(self, session: str, *, limit: int, wait: float) -> Reading:
        closing.begin()
        try:
            return self._place.window().read(session, limit=limit, wait=wait)
        finally:
            closing.end()


def wait(place: Place, arguments: Mapping[str, object], goes_on: Callable[[float], bool]) -> Told:
    """Wait until something unseen is there, and tell it as ``inbox`` does.

    Args:
        place: The caller's.
        arguments: Of the tool.
        goes_on: Told the share of the time that is over; returns whether anybody still waits.
    """
    try:
        seconds = seconds_in(arguments)
        check_session(place)
        began = time.monotonic()
        goes_on(0.0)
        desk = place.desk()
        mail = desks.collect(desk)
        if mail.trouble:
            raise mail.trouble
        # What is asked of it, a thread of its own asks, and lets go of what it opened for that.
        opener = (lambda: cast("Window", _Passing(place))) if mail.reading else None
        while not mail.has_unseen and (left := began + seconds - time.monotonic()) > 0:
            if desks.has_come(desk, min(left, SLICE_SECONDS), opener):
                mail = desks.collect(desk)
            elif not goes_on(min(1.0, (time.monotonic() - began) / seconds)):
                break
        return acts.shown(place, desk) if mail.has_unseen else acts.nothing_came(desk, seconds)
    except RestanteError as error:
        return failed(error)
