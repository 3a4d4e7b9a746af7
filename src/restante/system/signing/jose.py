"""The text of a signature: detached JWS in one container, raw-prefix-v1 of OACP 0.5.3.

What is signed is the bytes of the file before the last line, so that nothing has to be brought into one form. The
container has exactly one spelling; headers are signed as they stand.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from restante.system.signing.encoding import BadAuth, decode, decode_exact, encode, is_base64url

MOST_VALUE = 16_384
MOST_PROTECTED = 4_096
MOST_SIGNATURES = 8
ALGORITHM = "EdDSA"
SCHEME = "raw-prefix-v1"

AGENT_FORM = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_KID = re.compile(r"[A-Za-z0-9_-]{43}")
_AGENT_URN = "urn:oacp:agent:"
_INSTANCE_URN = "urn:uuid:"
_FORBIDDEN = ("jku", "jwk", "x5c", "x5t", "x5t#S256", "x5u")
_HEADER = {"alg", "crit", "kid", "oacp", "typ"}


class Kind(NamedTuple):
    """What a signature is for; one made for the one never counts for the other.

    Attributes:
        typ: The header's ``typ``.
        domain: The header's ``oacp.domain``.
        claims: The members of ``oacp``.
    """

    typ: str
    domain: str
    claims: frozenset[str]


_CLAIMS = frozenset(("agent", "domain", "instance", "scheme"))
MESSAGE = Kind("oacp-message+yaml", "urn:oacp:message:v1", _CLAIMS)
POLICY = Kind("oacp-policy+yaml", "urn:oacp:policy:v1", _CLAIMS | {"policy"})


class Entry(NamedTuple):
    """One signature of a container; nothing of it is proven yet.

    Attributes:
        protected: The header as it stands.
        signature: The signature.
        kid: Which key it claims.
        agent_urn: Which agent it claims.
        instance_urn: Which installation it claims.
        policy: For which policy file, where it is for one.
    """

    protected: str
    signature: bytes
    kid: str
    agent_urn: str
    instance_urn: str
    policy: dict[str, object]

    @property
    def agent(self) -> str:
        """The claimed agent's name."""
        return self.agent_urn.rsplit(":", 1)[1]


class Signing(NamedTuple):
    """A private key with what its signatures say of it.

    Attributes:
        kid: Its name.
        seed: The key.
        agent: Whose it is.
        trust_domain: UUID of the home where it was made.
        instance_id: UUID of the installation.
    """

    kid: str
    seed: bytes
    agent: str
    trust_domain: str
    instance_id: str


def agent_urn(trust_domain: str, agent: str) -> str:
    """Return an agent's full name."""
    return f"{_AGENT_URN}{trust_domain}:{agent}"


def instance_urn(instance_id: str) -> str:
    """Return an installation's full name."""
    return _INSTANCE_URN + instance_id


def is_agent(name: object) -> bool:
    """Tell whether a value is an agent's name."""
    return isinstance(name, str) and _AGENT.fullmatch(name) is not None


def is_uuid(text: object) -> bool:
    """Tell whether a value is a UUID as text."""
    return isinstance(text, str) and _UUID.fullmatch(text) is not None


def is_kid(text: object) -> bool:
    """Tell whether a value has the form of a key's name."""
    return isinstance(text, str) and _KID.fullmatch(text) is not None


def signing_input(protected: str, payload: bytes) -> bytes:
    """Return what is signed (RFC 7515, section 5.1)."""
    return protected.encode("ascii") + b"." + encode(payload).encode("ascii")


def seal(payload: bytes, keys: list[Signing], kind: Kind, policy: dict[str, str] | None = None) -> str:
    """Return the value of the last line that signs a payload.

    Args:
        payload: The file before that line; ends in a line feed.
        keys: Who signs, the first one first; 1 to 8.
        kind: What the signature is for.
        policy: ``project``, ``receiver`` and ``kind`` of a policy file.

    Raises:
        BadAuth: Nobody signs, or more than may; or the payload does not end in a line feed.
        NoCrypto: The library is missing.
    """
    from restante.system.signing.jwk import make_signature

    if not 0 < len(keys) <= MOST_SIGNATURES:
        raise BadAuth(f"1 to {MOST_SIGNATURES} keys sign, not {len(keys)}")
    if not payload.endswith(b"\n"):
        raise BadAuth("what is signed must end in a line feed")
    entries = []
    for key in keys:
        claims: dict[str, object] = {
            "agent": agent_urn(key.trust_domain, key.agent),
            "domain": kind.domain,
            "instance": instance_urn(key.instance_id),
            "scheme": SCHEME,
        }
        if policy is not None:
            claims["policy"] = policy
        header = {"alg": ALGORITHM, "crit": ["oacp"], "kid": key.kid, "oacp": claims, "typ": kind.typ}
        protected = encode(_compact(header))
        signature = make_signature(key.seed, signing_input(protected, payload))
        entries.append({"protected": protected, "signature": encode(signature)})
    return encode(_compact({"signatures": entries}))


def trailer_line(value: str) -> bytes:
    """Return the last line of a signed file."""
    return b'auth: "' + value.encode("ascii") + b'"\n'


def check_auth(value: str) -> str | None:
    """Return what is wrong with the structure of a message's signature, ``None`` for nothing."""
    try:
        unseal(value, MESSAGE)
    except BadAuth as error:
        return error.message
    return None


def unseal(value: str, kind: Kind) -> list[Entry]:
    """Return the signatures of a container, none of them proven.

    Raises:
        BadAuth: It is not built as the format says, or not spelled in its one way.
    """
    if len(value) > MOST_VALUE:
        raise BadAuth(f"auth value is oversized (max {MOST_VALUE} chars)")
    data = decode_exact(value, "auth value")
    container = _mapping(data, "auth container")
    if extra := sorted(set(container) - {"signatures"}):
        raise BadAuth(f"auth container has unexpected member(s): {_named(extra)}")
    entries = container.get("signatures")
    if not isinstance(entries, list) or not entries:
        raise BadAuth("auth container must carry a non-empty signatures array")
    if len(entries) > MOST_SIGNATURES:
        raise BadAuth(f"signatures array exceeds maximum of {MOST_SIGNATURES}")
    parts = [_parts(one, index) for index, one in enumerate(entries)]
    if _compact(container) != data:
        raise BadAuth(
            "auth container is not the signer's canonical compact JSON emit — "
            "formatting variants give one signed message a second wire spelling"
        )
    return [_entry(protected, signature, kind) for protected, signature in parts]


def _parts(one: object, index: int) -> tuple[str, bytes]:
    if not isinstance(one, dict) or set(one) != {"protected", "signature"}:
        raise BadAuth(f"signatures[{index}] must be exactly {{protected, signature}}")
    for name in ("protected", "signature"):
        if not is_base64url(one[name]):
            raise BadAuth(f"signatures[{index}].{name} must be unpadded base64url")
    return one["protected"], decode_exact(one["signature"], f"signatures[{index}].signature")


def _entry(protected: str, signature: bytes, kind: Kind) -> Entry:
    if len(protected) > MOST_PROTECTED:
        raise BadAuth("protected header missing or oversized")
    header = _mapping(decode(protected), "protected header")
    if forbidden := [name for name in _FORBIDDEN if name in header]:
        raise BadAuth(f"forbidden JOSE parameter: {forbidden[0]!r}")
    _check_members(header, _HEADER, "protected header")
    if header["alg"] != ALGORITHM:
        raise BadAuth(f"alg must be {ALGORITHM!r}")
    if header["typ"] != kind.typ:
        raise BadAuth(f"typ must be {kind.typ!r}")
    if header["crit"] != ["oacp"]:
        raise BadAuth("crit must be exactly ['oacp']")
    kid = header["kid"]
    if not isinstance(kid, str) or not is_kid(kid):
        raise BadAuth("kid must be an RFC 7638 SHA-256 JWK thumbprint (43 unpadded base64url characters)")
    decode_exact(kid, "kid")
    agent, instance, policy = _claims(header["oacp"], kind)
    return Entry(protected, signature, kid, agent, instance, policy)


def _claims(claims: object, kind: Kind) -> tuple[str, str, dict[str, object]]:
    if not isinstance(claims, dict):
        raise BadAuth("oacp header member must be a JSON object")
    _check_members(claims, kind.claims, "oacp header")
    if claims["domain"] != kind.domain:
        raise BadAuth(f"unknown signing domain: {claims['domain']!r:.80}")
    if claims["scheme"] != SCHEME:
        raise BadAuth(f"unknown signing scheme: {claims['scheme']!r:.80}")
    agent, instance, policy = claims["agent"], claims["instance"], claims.get("policy", {})
    if not isinstance(agent, str) or not agent.startswith(_AGENT_URN):
        raise BadAuth(f"agent identity must start with {_AGENT_URN!r}")
    domain, _, name = agent[len(_AGENT_URN) :].partition(":")
    if not is_uuid(domain):
        raise BadAuth(f"agent identity trust domain must be a UUID, got {domain!r:.80}")
    if not is_agent(name):
        raise BadAuth(f"agent identity name must match {AGENT_FORM}")
    if not isinstance(instance, str) or not instance.startswith(_INSTANCE_URN):
        raise BadAuth(f"instance identity must start with {_INSTANCE_URN!r}")
    if not is_uuid(instance[len(_INSTANCE_URN) :]):
        raise BadAuth(f"instance identity must be urn:uuid:<uuid>, got suffix {instance[len(_INSTANCE_URN) :]!r:.80}")
    if not isinstance(policy, dict):
        raise BadAuth("oacp.policy must be a JSON object")
    return agent, instance, policy


def _check_members(found: dict[str, object], expected: set[str] | frozenset[str], where: str) -> None:
    if missing := sorted(expected - set(found)):
        raise BadAuth(f"missing {where} member(s): {_named(missing)}")
    if unknown := sorted(set(found) - expected):
        raise BadAuth(f"unknown {where} member(s): {_named(unknown)}")


def _named(names: list[str]) -> str:
    # Names of others: what no terminal and no UTF-8 file takes is spelled out.
    return ", ".join(name if name.isprintable() else ascii(name) for name in names)


def _compact(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def _mapping(data: bytes, name: str) -> dict[str, object]:
    try:
        value = json.loads(data.decode(), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise BadAuth(f"{name} is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadAuth(f"{name} must be a JSON object")
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise BadAuth(f"duplicate JSON key: {next(name for name in names if names.count(name) > 1)!r:.80}")
    return found
