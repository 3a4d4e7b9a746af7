"""Read one message so that it is safe to show: one read, verified before it is parsed, kept as it was read.

Nothing is taken from the message before its signature was looked at, and nothing later is taken from its file: what is
checked, parsed, shown, kept and hashed are the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError, Unreadable
from restante.domain.intake import ENFORCE, OFF, Intake

if TYPE_CHECKING:
    from restante.ports.intake import Inbox, Verifier, Wire


def read_verified(
    reference: str, inbox: Inbox, verifier: Verifier, wire: Wire, *, snapshot: str = "", dispose: bool = False
) -> Intake:
    """Return a message as far as its receiver may see it.

    Args:
        reference: Which file of the inbox.
        inbox: The receiver's own inbox.
        verifier: What the receiver has decided about signatures.
        wire: Reads the format.
        snapshot: Where to keep the bytes that were read; empty to keep none.
        dispose: Whether evidence of a held message is kept.

    Returns:
        The message, or why there is none. No error is raised: every way to fail leaves the message where it is.
    """
    taken = Intake(reference)
    try:
        raw = inbox.read(reference)
        taken = taken._replace(digest=_digest(raw), payload_digest=_digest(wire.signed_part(raw)), raw=raw)
        taken = _verified(taken, verifier)
        if taken.is_held:
            return _disposed(taken, inbox) if dispose else taken
        if snapshot:
            inbox.keep_snapshot(snapshot, raw)
            taken = taken._replace(snapshot=snapshot)
        return _parsed(taken, wire)
    except RestanteError as error:
        return taken._replace(error=error.message)


def _digest(raw: bytes) -> str:
    import hashlib

    return hashlib.sha256(raw).hexdigest()


def _verified(taken: Intake, verifier: Verifier) -> Intake:
    taken = taken._replace(mode=verifier.mode, policy_error=verifier.policy_error)
    if verifier.mode == OFF and verifier.policy_error is None:
        return taken
    verified = verifier.verify(taken.raw, taken.path.rsplit("/", 1)[-1])
    must_hold = verifier.policy_error is not None or (verifier.mode == ENFORCE and not verified.is_verified)
    return taken._replace(verified=verified, is_held=must_hold)


def _disposed(taken: Intake, inbox: Inbox) -> Intake:
    copy = inbox.quarantine(taken.path, taken.raw)
    auth = {**taken.verified.auth, "quarantine_copy": copy} if taken.verified else {}
    verified = taken.verified._replace(auth=auth) if taken.verified else None
    return taken._replace(verified=verified, quarantine=copy, disposition="reject")


def _parsed(taken: Intake, wire: Wire) -> Intake:
    try:
        fields = wire.parse(taken.raw)
    except Unreadable as error:
        return taken._replace(error=error.message)
    errors = tuple(wire.validate(fields, taken.raw))
    shown = {name: value for name, value in fields.items() if name != "auth"}
    at_gate = tuple(wire.validate(fields, taken.raw, is_framed=False)) if errors else ()
    return taken._replace(fields=shown, errors=errors, gate_errors=at_gate)
