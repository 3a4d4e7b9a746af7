"""A receiver's own files under its own signature: who changes them elsewhere is noticed.

``config.yaml`` and ``allowed_signers.yaml`` may end in the same line as a signed message, made for this one place. Once
a file was signed, its place is enrolled: without a signature it counts as broken, so that nobody can take it off.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import NothingThere, Refused, Unreadable
from restante.system.signing.encoding import BadAuth
from restante.system.signing.files import locked, put, read_small
from restante.system.signing.jose import POLICY, Entry, Signing, seal, signing_input, trailer_line, unseal
from restante.system.signing.jwk import NoCrypto, holds
from restante.system.signing.keys import listed, signing_keys, stubs_of
from restante.system.signing.places import Place, enrollment_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from restante.ports.intake import Parts

CONFIG = "receiver_config"
PINS = "allowed_signers"
_VERSION = 1


class PolicyAuth(NamedTuple):
    """What is proven of a policy file.

    Attributes:
        status: ``unsigned``, ``verified``, ``invalid`` or ``unsupported``.
        signer_agent: Who signed it, where that is proven.
        signer_kid: With which key.
        reason: Why it is not proven.
    """

    status: str
    signer_agent: str | None = None
    signer_kid: str | None = None
    reason: str | None = None

    def report(self) -> dict[str, object]:
        """Return it as audit records hold it."""
        return self._asdict()


class Signed(NamedTuple):
    """A policy file that was signed.

    Attributes:
        path: The file.
        was_signed: Whether it had a signature before.
        context: What it was signed for.
        kids: Who signed.
        status: What checking it again said.
    """

    path: str
    was_signed: bool
    context: dict[str, str]
    kids: tuple[str, ...]
    status: str

    def report(self) -> dict[str, object]:
        """Return it as the command prints it."""
        return {
            "path": self.path,
            "resigned": self.was_signed,
            "context": self.context,
            "signer_kids": list(self.kids),
            "verify_status": self.status,
        }


def context_of(place: Place, kind: str) -> dict[str, str]:
    """Return for what a file is signed."""
    return {"kind": kind, "project": place.project, "receiver": place.receiver}


def verify_policy(place: Place, kind: str, parts: Parts) -> PolicyAuth:
    """Return what is proven of a policy file.

    Args:
        place: Whose file it is.
        kind: ``receiver_config`` or ``allowed_signers``.
        parts: The file, taken apart.

    Raises:
        Unreadable: The register of enrolled files cannot be understood; then nothing counts as unsigned.
    """
    if parts.state == "absent":
        if _key(place, kind) not in enrolled(place.home):
            return PolicyAuth("unsigned")
        return _invalid(
            "policy target is enrolled for signing but carries no auth trailer — signature stripping fails closed; "
            "sign it again if the change was intended"
        )
    if parts.state != "ok":
        return _invalid("final line is auth-like but violates exact framing")
    try:
        entries = unseal(parts.value, POLICY)
    except BadAuth as error:
        return _invalid(error.message)
    try:
        return _first_proven(place, kind, entries, parts.prefix)
    except NoCrypto:
        return PolicyAuth("unsupported", reason="crypto unavailable")


def _first_proven(place: Place, kind: str, entries: list[Entry], prefix: bytes) -> PolicyAuth:
    stubs, reasons = stubs_of(place.home, place.receiver), []
    for entry in entries:
        short = f"kid {entry.kid[:12]}…"
        stub = stubs.get(entry.kid)
        if stub is None:
            reasons.append(f"{short} not in local keystore")
        elif entry.agent != stub.agent:
            reasons.append(f"{short} is not of agent {entry.agent}")
        elif not holds(stub.x, entry.signature, signing_input(entry.protected, prefix)):
            reasons.append(f"{short} signature failed verification")
        elif wrong := _mismatch(context_of(place, kind), entry.policy):
            reasons.append(f"{short} policy context mismatch on {wrong}")
        else:
            return PolicyAuth("verified", stub.agent, stub.kid)
    return _invalid("; ".join(reasons))


def _mismatch(expected: Mapping[str, str], signed: Mapping[str, object]) -> str:
    for name, value in expected.items():
        if signed.get(name) != value:
            return f"{name} (signed {signed.get(name)!r:.80})"
    return "its members" if set(signed) != set(expected) else ""


def _invalid(reason: str) -> PolicyAuth:
    return PolicyAuth("invalid", reason=reason)


def _key(place: Place, kind: str) -> str:
    return f"{place.project}/{place.receiver}/{kind}"


def enrolled(home: str) -> dict[str, dict[str, str]]:
    """Return which files must be signed, by project, receiver and kind.

    Raises:
        Unreadable: The register cannot be understood.
    """
    path = enrollment_of(home)
    data = read_small(path)
    if data is None:
        return {}
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path}: {error}", remedy="restore it; it says which policies must be signed") from None
    found = value.get("enrolled") if isinstance(value, dict) else None
    if not isinstance(found, dict) or not isinstance(value, dict) or value.get("version") != _VERSION:
        raise Unreadable(f"{path}: not version {_VERSION}", remedy="restore it; it says which policies must be signed")
    return found


def sign_policy(
    place: Place, now: datetime, split: Callable[[bytes], Parts], *, kid: str = "", prepared: bytes | None = None
) -> list[Signed]:
    """Sign a receiver's policy files, those that are there, and enrol their places.

    Args:
        place: Whose files.
        now: The time.
        split: Takes a file apart.
        kid: Only this key signs, where one is named.
        prepared: New content of ``allowed_signers.yaml``, unsigned; only that file is signed then.

    Raises:
        NothingThere: There is no file to sign, or no key to sign with.
        Unsafe: A key can be used by others.
    """
    keys = signing_keys(place.home, place.receiver, kid)
    wanted = [(PINS, place.pins)] if prepared is not None else [(CONFIG, place.config), (PINS, place.pins)]
    done = []
    for kind, path in wanted:
        if prepared is None and read_small(path) is None:
            continue
        with locked(path + ".lock"):
            done.append(_sign_one(place, kind, path, keys, split, prepared))
            _enrol(place, kind, keys[0].kid, now)
    if not done:
        raise NothingThere(f"{place.config} and {place.pins}: neither is there, so there is nothing to sign")
    return done


def change_config(
    place: Place,
    now: datetime,
    split: Callable[[bytes], Parts],
    edit: Callable[[bytes], bytes],
    *,
    kid: str = "",
) -> tuple[str, ...]:
    """Change a receiver's ``config.yaml`` in one step, and sign it again where the receiver has a key.

    Args:
        place: Whose policy.
        now: The time.
        split: Takes a file apart.
        edit: Gets the policy without its signature; gives it as it is to be.
        kid: Only this key signs, where one is named.

    Returns:
        Who signed; nobody where there is no key and the policy was not signed before.

    Raises:
        NothingThere: There is no policy, or no key though it must be signed.
        Refused: It is not what was signed: signing it would vouch for what somebody else changed.
    """
    with locked(place.config + ".lock"):
        raw = read_small(place.config)
        if raw is None:
            raise NothingThere(f"receiver config not found: {place.config}")
        parts = split(raw)
        proof = verify_policy(place, CONFIG, parts)
        if proof.status not in ("verified", "unsigned"):
            raise Refused(
                f"{place.config}: {proof.reason or proof.status}",
                remedy="look at it; sign-policy vouches for it as it is",
            )
        data = edit(parts.prefix)
        if proof.status == "unsigned" and not kid and not listed(place.home, place.receiver):
            put(place.config, data)
            return ()
        keys = signing_keys(place.home, place.receiver, kid)
        signed = _sign_one(place, CONFIG, place.config, keys, split, data)
        _enrol(place, CONFIG, keys[0].kid, now)
        return signed.kids


def _sign_one(
    place: Place,
    kind: str,
    path: str,
    keys: list[Signing],
    split: Callable[[bytes], Parts],
    prepared: bytes | None,
) -> Signed:
    parts = split(read_small(path) or b"")
    prefix = parts.prefix if prepared is None else prepared
    if parts.state == "malformed" and prepared is None:
        raise Unreadable(f"{path} ends in a broken signature", remedy="remove that last line, then sign")
    if not prefix.endswith(b"\n"):
        prefix += b"\n"
    context = context_of(place, kind)
    data = prefix + trailer_line(seal(prefix, keys, POLICY, context))
    put(path, data)
    proof = verify_policy(place, kind, split(data))
    return Signed(path, parts.state == "ok", context, tuple(key.kid for key in keys), proof.status)


def _enrol(place: Place, kind: str, kid: str, now: datetime) -> None:
    path = enrollment_of(place.home)
    with locked(path + ".lock"):
        entries = dict(enrolled(place.home))
        entries[_key(place, kind)] = {"enrolled_at_utc": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "kid": kid}
        put(path, json.dumps({"version": _VERSION, "enrolled": entries}, indent=2).encode() + b"\n")


def is_enrolled(place: Place, kind: str) -> bool:
    """Tell whether a file must be signed.

    Raises:
        Unreadable: The register cannot be understood.
    """
    return _key(place, kind) in enrolled(place.home)
