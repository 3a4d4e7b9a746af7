"""What a message proves: every signature on its own, then whether one of them is of the agent it says it is from.

After OACP 0.5.3. Nothing of the message is parsed before a signature over its bytes has held.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.domain.intake import Verified
from restante.system.signing.encoding import BadAuth
from restante.system.signing.jose import ALGORITHM, MESSAGE, SCHEME, Entry, signing_input, unseal
from restante.system.signing.jwk import NoCrypto, holds
from restante.system.signing.pins import REVOKED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from restante.ports.intake import Parts
    from restante.system.signing.pins import Pin

MOST_BYTES = 1_048_576
_MALFORMED = (
    "auth framing: final line is auth-like but violates exact framing "
    '(auth: "<base64url>" + exactly one LF, bounded size)'
)
_MEMBERS = (
    "status",
    "alg",
    "scheme",
    "claimed_sender",
    "verified_signer",
    "verified_instance",
    "kid",
    "payload_sha256",
    "trust_source",
    "signatures_checked",
    "reason",
    "verified_at_utc",
)

Outcome = tuple[Entry, str]


def verify(
    raw: bytes,
    pins: Mapping[str, Pin],
    *,
    now: datetime,
    split: Callable[[bytes], Parts],
    parse: Callable[[bytes], Mapping[str, object]],
    trust_source: str | None = None,
    trust_error: str = "",
) -> Verified:
    """Return what a message proves to who believes certain keys. Raises nothing, whatever the bytes.

    Args:
        raw: The message.
        pins: The keys that are believed or revoked, by name.
        now: The time.
        split: Takes a message apart.
        parse: Reads the fields of what a signature over it has proven.
        trust_source: Where the pins are from.
        trust_error: Why there are none, where they cannot be used.
    """
    stamp = {"trust_source": trust_source, "verified_at_utc": now.strftime("%Y-%m-%dT%H:%M:%SZ")}
    if len(raw) > MOST_BYTES:
        return _told("invalid", stamp, reason="message exceeds size bound")
    parts = split(raw)
    stamp["payload_sha256"] = hashlib.sha256(parts.prefix).hexdigest()
    if parts.state == "absent":
        return _told("unsigned", stamp)
    if parts.state != "ok":
        return _told("invalid", stamp, reason=_MALFORMED)
    stamp |= {"alg": ALGORITHM, "scheme": SCHEME}
    try:
        entries = unseal(parts.value, MESSAGE)
    except BadAuth as error:
        return _told("invalid", stamp, reason=f"auth framing: {error.message}")
    try:
        checked = [(entry, _outcome(entry, pins, parts.prefix)) for entry in entries]
    except NoCrypto:
        return _told("unsupported", stamp, reason="crypto unavailable")
    if any(outcome == "verified" for _, outcome in checked):
        return _identified(checked, stamp, _sender(parts.prefix, parse))
    status, reason = _failed({outcome for _, outcome in checked})
    if status == "untrusted" and trust_error:
        reason += f" (trust root unusable: {trust_error})"
    return _told(status, stamp, checked, reason=reason)


def _outcome(entry: Entry, pins: Mapping[str, Pin], prefix: bytes) -> str:
    pin = pins.get(entry.kid)
    if pin is None:
        return "unknown_kid"
    if pin.status == REVOKED:
        return "revoked"
    if pin.agent != entry.agent:
        return "pin_agent_mismatch"
    return "verified" if holds(pin.x, entry.signature, signing_input(entry.protected, prefix)) else "bad_signature"


def _failed(outcomes: set[str]) -> tuple[str, str]:
    if outcomes & {"bad_signature", "pin_agent_mismatch"}:
        return "invalid", "signature present but failed verification"
    if "revoked" in outcomes:
        return "revoked", "all matching pins are revoked"
    return "untrusted", "no signature matches a receiver-pinned kid"


def _sender(prefix: bytes, parse: Callable[[bytes], Mapping[str, object]]) -> str | None:
    try:
        sender = parse(prefix).get("from")
    except RestanteError:
        return None
    return sender if isinstance(sender, str) else None


def _identified(checked: list[Outcome], stamp: dict[str, str | None], sender: str | None) -> Verified:
    """Return what is proven by signatures that hold: only those of the agent it is from count."""
    proven = [entry for entry, outcome in checked if outcome == "verified"]
    checked = [
        (entry, "identity_mismatch" if outcome == "verified" and entry.agent != sender else outcome)
        for entry, outcome in checked
    ]
    for entry, outcome in checked:
        if outcome == "verified":
            found = {"verified_signer": entry.agent_urn, "verified_instance": entry.instance_urn, "kid": entry.kid}
            return _told("verified", {**stamp, "claimed_sender": sender, **found}, checked)
    names = ", ".join(sorted({entry.agent for entry in proven}))
    reason = f"signer identity mismatch: verified {names}, message claims {sender!r:.120}"
    return _told("invalid", {**stamp, "claimed_sender": sender}, checked, reason=reason)


def _told(
    status: str, stamp: Mapping[str, str | None], checked: list[Outcome] | None = None, reason: str | None = None
) -> Verified:
    auth: dict[str, object] = dict.fromkeys(_MEMBERS)
    auth |= stamp
    auth |= {"status": status, "reason": reason}
    auth["signatures_checked"] = [
        {"kid": entry.kid, "agent": entry.agent_urn, "outcome": outcome} for entry, outcome in checked or ()
    ]
    return Verified(auth)
