"""Joins what taking in signed mail needs: the mail room's formats, the desk of a receiver, its records."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.stores.oacp.evidence import OwnInbox, sent_elsewhere
from restante.stores.oacp.layout import Tree
from restante.stores.oacp.reading import read_fields, read_policy
from restante.stores.oacp.trailer import split_trailer
from restante.stores.oacp.validating import validate
from restante.system.clock import SystemClock
from restante.system.signing.desk import Format, ReceiverDesk
from restante.system.signing.jose import check_auth, trailer_line
from restante.system.signing.places import Place, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.ports import Clock
    from restante.stores.oacp.audit import AuditStore
    from restante.system.signing.trust import Trust


class OacpWire:
    """A ``ports.intake.Wire``."""

    def parse(self, raw: bytes) -> dict[str, object]:
        """See the port."""
        return read_fields(raw)

    def signed_part(self, raw: bytes) -> bytes:
        """See the port."""
        return split_trailer(raw).prefix

    def validate(self, fields: Mapping[str, object], raw: bytes, *, is_framed: bool = True) -> list[str]:
        """See the port."""
        value = fields.get("auth")
        if is_framed or not isinstance(value, str):
            return validate(fields, raw if is_framed else b"", check_auth=check_auth)
        # As if it stood where it belongs.
        found = validate({**fields, "auth": "A"}, trailer_line("A"))
        reason = check_auth(value)
        return [*found, f"field 'auth': {reason}"] if reason else found


def _sent_in(place: Place, fields: Mapping[str, object], raw: bytes) -> str:
    return sent_elsewhere(Tree(place.home), place.project, fields, raw)


FORM = Format(split_trailer, read_fields, read_policy, _sent_in)


def verifier_of(home: str, project: str, receiver: str, clock: Clock | None = None) -> ReceiverDesk:
    """Return what a receiver has decided about whose mail counts.

    Raises:
        UsageError: A name would lead out of the tree.
    """
    return ReceiverDesk(place_of(os.path.abspath(home), project, receiver), FORM, clock or SystemClock())


def inbox_of(home: str, project: str, receiver: str, clock: Clock | None = None) -> OwnInbox:
    """Return a receiver's inbox, as the reader needs it.

    Raises:
        UsageError: A name would lead out of the tree.
        NothingThere: There is no such project or agent.
    """
    return OwnInbox(Tree(os.path.abspath(home)), project, receiver, clock or SystemClock())


def audits_of(home: str, project: str, receiver: str) -> AuditStore:
    """Return a receiver's audit records, with the home's memory of accepted mail.

    Raises:
        UsageError: A name would lead out of the tree.
        NothingThere: There is no such project or agent.
    """
    # Who lists mail needs neither records nor the rules that make them.
    from restante.stores.oacp.audit import AuditStore
    from restante.stores.oacp.ledger import Ledger

    home = os.path.abspath(home)
    Tree(home).check_agent(project, receiver)
    return AuditStore.of_agent(home, project, receiver, Ledger(home))


def trust_of(home: str, project: str, clock: Clock | None = None) -> Trust:
    """Return the keys of others in a project.

    Raises:
        UsageError: The name would lead out of the tree.
        NothingThere: There is no such project.
    """
    from restante.system.signing.trust import Trust

    return Trust(os.path.abspath(home), project, FORM, clock or SystemClock())
