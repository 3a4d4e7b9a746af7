"""What a receiver knows of a message before anybody acts on it: what its signature proves, and whether it is held."""

from typing import NamedTuple

OFF = "off"
WARN = "warn"
ENFORCE = "enforce"
MODES = (OFF, WARN, ENFORCE)

VERIFIED = "verified"

_LABELS = {
    "unsigned": "unsigned",
    "verified": "signed-verified",
    "untrusted": "signed-unknown-kid",
    "invalid": "signed-INVALID",
    "revoked": "signed-REVOKED",
    "unsupported": "signed-unverifiable (crypto unavailable)",
}


class Verified(NamedTuple):
    """What a message's signature proves to one receiver.

    Attributes:
        auth: ``message_auth`` of OACP 0.5.3: twelve members, in the order of the format.
    """

    auth: dict[str, object]

    @property
    def status(self) -> str:
        """``unsigned``, ``verified``, ``untrusted``, ``invalid``, ``revoked`` or ``unsupported``."""
        return str(self.auth["status"])

    @property
    def is_verified(self) -> bool:
        """Whether somebody whom the receiver believes wrote these bytes, for this receiver."""
        return self.status == VERIFIED

    @property
    def annotation(self) -> str:
        """One line for a person."""
        parts = [f"[oacp-auth] {_LABELS[self.status]}"]
        if signer := self.auth["verified_signer"]:
            parts.append(f"signer={signer}")
        if kid := self.auth["kid"]:
            parts.append(f"kid={str(kid)[:12]}…")
        if reason := self.auth["reason"]:
            parts.append(f"reason: {reason}")
        return " ".join(parts)


class Intake(NamedTuple):
    """A message as it was read for a receiver: what may be shown of it, and why it is held.

    Attributes:
        path: The file.
        mode: The receiver's mode; empty where nothing could be asked.
        policy_error: Why the receiver's policy cannot be used; mail is held then.
        verified: What the signature proves; ``None`` in mode ``off``.
        is_held: Whether the mode keeps the message back; nothing of its content is told then.
        digest: SHA-256 of the bytes that were read; empty where none were.
        payload_digest: SHA-256 of what of them is, or could be, signed: the same however often, and by whomever, it
            is signed. A memory of accepted mail goes by it.
        raw: Those bytes, for who goes on with this very message.
        fields: The message without its signature; ``None`` where it was not read.
        errors: What is wrong with it.
        gate_errors: What the published gate holds against it: the same, but for the place of a signature.
        snapshot: Where the bytes were kept.
        quarantine: Where evidence was kept.
        disposition: ``reject`` where a held message was disposed of.
        error: What went wrong with the reading itself.
    """

    path: str
    mode: str = ""
    policy_error: str | None = None
    verified: Verified | None = None
    is_held: bool = False
    digest: str = ""
    payload_digest: str = ""
    raw: bytes = b""
    fields: dict[str, object] | None = None
    errors: tuple[str, ...] = ()
    gate_errors: tuple[str, ...] = ()
    snapshot: str | None = None
    quarantine: str | None = None
    disposition: str | None = None
    error: str | None = None

    @property
    def exit_code(self) -> int:
        """0 accepted, 2 not read, 3 held, 4 not as the format says."""
        if self.is_held:
            return 3
        if self.error is not None or self.fields is None:
            return 2
        return 4 if self.errors else 0

    def report(self) -> dict[str, object]:
        """Return it as the reader prints it; where the reading itself failed before the bytes, only that."""
        if self.error is not None and not self.digest:
            return {"path": self.path, "held": False, "message": None, "error": self.error}
        return {
            "path": self.path,
            "verify_mode": self.mode,
            "policy_error": self.policy_error,
            "held": self.is_held,
            "message_auth": None if self.verified is None else self.verified.auth,
            "message_sha256": self.digest,
            "snapshot_path": self.snapshot,
            "validation_errors": list(self.errors),
            "message": self.fields,
            "disposition": self.disposition,
            "quarantine_copy": self.quarantine,
            "error": self.error,
        }
