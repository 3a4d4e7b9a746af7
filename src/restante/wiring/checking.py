"""Checks one file wherever it is: its form, its signature, the records that belong to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.domain.errors import NothingThere
from restante.stores.oacp.audit import AuditStore
from restante.stores.oacp.evidence import agent_directory_of, quarantine_in
from restante.stores.oacp.reading import read_fields
from restante.stores.oacp.trailer import split_trailer
from restante.system.signing.desk import read_pin_file
from restante.system.signing.verifying import verify
from restante.wiring.intake import read_message
from restante.wiring.trusting import FORM, OacpWire, verifier_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.intake import Verified
    from restante.ports import Clock


def errors_of(path: str) -> list[str]:
    """Return what is wrong with the message in a file.

    Raises:
        NothingThere: There is no such file.
        Unreadable: It is no message at all.
    """
    wire, raw = OacpWire(), read_message(path)
    return wire.validate(wire.parse(raw), raw)


def book_of(path: str) -> tuple[AuditStore, str]:
    """Return the records among which a record lies, and the name of its file."""
    folder, name = os.path.split(os.path.abspath(path))
    base, last = os.path.split(folder)
    return AuditStore(base, (last,), ""), name


class Checker:
    """Says what signatures prove.

    Args:
        home: The OACP home.
        project: The project whose receiver is asked; empty to ask none.
        receiver: Whose pins count.
        pins: A file of pins that counts instead; empty for none.
        clock: The time.
    """

    def __init__(self, home: str, project: str, receiver: str, pins: str, clock: Clock) -> None:
        self._desk = verifier_of(home, project, receiver, clock) if project and not pins else None
        self._pins = pins
        self._clock = clock

    def read(self, path: str) -> bytes:
        """Return a message's bytes; see ``wiring.intake.read_message``."""
        return read_message(path)

    def verify(self, raw: bytes, path: str) -> Verified:
        """Return what a message proves."""
        if self._desk is not None:
            return self._desk.verify(raw, os.path.basename(path))
        pins, error = read_pin_file(self._pins, FORM) if self._pins else ({}, "")
        return verify(
            raw,
            pins,
            now=self._clock.now(),
            split=split_trailer,
            parse=read_fields,
            trust_source=self._pins or None,
            trust_error=error,
        )

    def unread(self, reason: str) -> dict[str, object]:
        """Return the verdict on a file that cannot be read."""
        blank = verify(b"", {}, now=self._clock.now(), split=split_trailer, parse=read_fields).auth
        return {**blank, "status": "invalid", "payload_sha256": None, "reason": reason}

    def quarantine(self, path: str, raw: bytes) -> str:
        """Keep evidence of a message in the ``dead_letter`` of the agent in whose inbox, or archive, it lies.

        Raises:
            NothingThere: It lies in nobody's.
        """
        directory = agent_directory_of(path)
        if not directory:
            raise NothingThere(f"{path} lies in nobody's inbox, so there is no dead_letter for it")
        return quarantine_in(directory, os.path.basename(path), raw, self._clock)

    def attach(self, record: str, auth: Mapping[str, object], raw: bytes) -> None:
        """Write a verdict into an audit record; see ``ports.intake.AuditBook.attach_auth``."""
        import hashlib

        book, name = book_of(record)
        book.attach_auth(name, auth, hashlib.sha256(raw).hexdigest())
