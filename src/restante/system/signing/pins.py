"""Whose keys a receiver believes, and whose a project knows: ``allowed_signers.yaml`` and ``catalog.yaml``.

A file with one bad entry is of no use as a whole: half a list of revocations would be worse than none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.system.signing.encoding import BadAuth
from restante.system.signing.jose import is_agent, is_kid
from restante.system.signing.jwk import public_jwk, public_x, thumbprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VERSION = 1
ACTIVE = "active"
REVOKED = "revoked"


class Pin(NamedTuple):
    """A key that a receiver has decided about, or that a project knows.

    Attributes:
        kid: Its name.
        agent: Whose it is.
        domain: UUID of the home where it was made; empty where that was not said.
        instance: UUID of the installation; empty where that was not said.
        x: The key; empty only where it is revoked.
        status: ``active`` or ``revoked``; empty in a catalog, which believes nobody.
        created_at_utc: When it was made; a catalog says so.
    """

    kid: str
    agent: str
    domain: str = ""
    instance: str = ""
    x: str = ""
    status: str = ""
    created_at_utc: str = ""

    def report(self) -> dict[str, object]:
        """Return it as the command prints it."""
        shown: dict[str, object] = {
            "kid": self.kid,
            "agent": self.agent,
            "domain": self.domain or None,
            "instance": self.instance or None,
            "jwk": public_jwk(self.x) if self.x else None,
        }
        return shown | ({"status": self.status} if self.status else {"created_at_utc": self.created_at_utc or None})


def parse_pins(value: object) -> dict[str, Pin]:
    """Return the pins of a parsed ``allowed_signers.yaml`` by the names of their keys.

    Raises:
        BadAuth: Any of it is not as it must be; then none of it counts.
    """
    return _parse(value, "signers")


def parse_catalog(value: object) -> dict[str, Pin]:
    """Return the entries of a parsed ``catalog.yaml`` by the names of their keys.

    Raises:
        BadAuth: Any of it is not as it must be.
    """
    return _parse(value, "entries")


def _parse(value: object, key: str) -> dict[str, Pin]:
    if not isinstance(value, dict):
        raise BadAuth("must be a mapping")
    if value.get("version") != VERSION or isinstance(value.get("version"), bool):
        raise BadAuth(f"has unsupported version {value.get('version')!r:.40}")
    entries = value.get(key)
    if not isinstance(entries, list):
        raise BadAuth(f"{key} must be a list")
    found: dict[str, Pin] = {}
    for index, entry in enumerate(entries):
        try:
            pin = _pin(entry, has_status=key == "signers")
        except BadAuth as error:
            raise BadAuth(f"{key}[{index}]: {error.message}") from None
        if pin.kid in found:
            raise BadAuth(f"duplicate kid {pin.kid!r}")
        found[pin.kid] = pin
    return found


def _pin(entry: object, *, has_status: bool) -> Pin:
    if not isinstance(entry, dict):
        raise BadAuth("must be a mapping")
    kid, agent, jwk = entry.get("kid"), entry.get("agent"), entry.get("jwk")
    if not isinstance(kid, str) or not is_kid(kid):
        raise BadAuth("kid is no thumbprint")
    if not isinstance(agent, str) or not is_agent(agent):
        raise BadAuth(f"{agent!r:.80} is no agent's name")
    status = entry.get("status") if has_status else ""
    if has_status and status not in (ACTIVE, REVOKED):
        raise BadAuth(f"has unknown status {status!r:.40}")
    x = "" if jwk is None and status == REVOKED else public_x(jwk)
    if x and thumbprint(x) != kid:
        raise BadAuth("kid is not the RFC 7638 thumbprint of its jwk")
    domain, instance = (_optional(entry, name) for name in ("domain", "instance"))
    return Pin(kid, agent, domain, instance, x, str(status), str(entry.get("created_at_utc") or ""))


def _optional(entry: Mapping[object, object], name: str) -> str:
    value = entry.get(name)
    if value is not None and not isinstance(value, str):
        raise BadAuth(f"{name} must be text")
    return value or ""


def render_pins(pins: Iterable[Pin]) -> bytes:
    """Return ``allowed_signers.yaml``, ordered by agent and key."""
    return _render("signers", pins)


def render_catalog(pins: Iterable[Pin]) -> bytes:
    """Return ``catalog.yaml``, ordered by agent and key."""
    return _render("entries", pins)


def _render(key: str, pins: Iterable[Pin]) -> bytes:
    lines = [f"version: {VERSION}"]
    ordered = sorted(pins, key=lambda pin: (pin.agent, pin.kid))
    lines.append(f"{key}:" if ordered else f"{key}: []")
    for pin in ordered:
        lines += [f"- agent: {_quoted(pin.agent)}", f"  domain: {_quoted(pin.domain)}"]
        lines += [f"  instance: {_quoted(pin.instance)}", f"  kid: {_quoted(pin.kid)}"]
        if pin.x:
            lines += ["  jwk:", "    kty: OKP", "    crv: Ed25519", f"    x: {_quoted(pin.x)}"]
        lines.append(f"  status: {pin.status}" if pin.status else f"  created_at_utc: {_quoted(pin.created_at_utc)}")
    return ("\n".join(lines) + "\n").encode()


def _quoted(text: str) -> str:
    # Names such as ``null`` and ``1e5`` are names here, so everything is quoted.
    return "'" + text.replace("'", "''") + "'" if text else "null"
