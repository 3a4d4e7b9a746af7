"""Everything that one receiver has decided about whose mail counts: mode, pins, and whether these can be relied on.

What cannot be relied on is never taken for *off*: an unknown mode, a policy that cannot be read or whose signature does
not hold, hold all mail until a person has looked.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import RestanteError, Unreadable
from restante.domain.intake import ENFORCE, MODES, OFF, Verified
from restante.system.signing.encoding import BadAuth
from restante.system.signing.files import read_small
from restante.system.signing.jose import MESSAGE, seal, trailer_line
from restante.system.signing.keys import signing_keys
from restante.system.signing.pins import Pin, parse_pins
from restante.system.signing.policy import CONFIG, PINS, PolicyAuth, verify_policy
from restante.system.signing.verifying import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from restante.ports import Clock
    from restante.ports.intake import Parts
    from restante.system.signing.places import Place


class Format(NamedTuple):
    """How files of the tree are read; the functions are the mail room's.

    Attributes:
        split: Takes a signed file apart.
        parse: Reads a message's fields, every scalar as text.
        load: Reads YAML with its types.
        sent_in: Tells in which other project a message was sent; empty where it was this one, or cannot be told.
            Gets the place of the receiver, the fields and the bytes.
    """

    split: Callable[[bytes], Parts]
    parse: Callable[[bytes], Mapping[str, object]]
    load: Callable[[bytes], object]
    sent_in: Callable[[Place, Mapping[str, object], bytes], str] | None = None


class Rules(NamedTuple):
    """What a receiver's policy says of signatures.

    Attributes:
        mode: ``off``, ``warn`` or ``enforce``.
        error: Why the policy cannot be used; then the mode is ``enforce`` and nobody is believed.
        auth: What is proven of the policy's own signature.
        config: The parsed policy; ``None`` where there is none or it cannot be used.
        is_strict: Whether only a receiver that is named in a message may believe it.
        signs: Whether this agent's own mail is signed.
        kid: With which key, where one is named.
    """

    mode: str = OFF
    error: str | None = None
    auth: PolicyAuth = PolicyAuth("unsigned")
    config: object = None
    is_strict: bool = False
    signs: bool = False
    kid: str = ""


def read_rules(place: Place, form: Format) -> Rules:
    """Return what a receiver's policy says. Raises nothing: what is wrong is in ``error``."""
    try:
        data = read_small(place.config)
        if data is None:
            data = b""
        parts = form.split(data)
        auth = verify_policy(place, CONFIG, parts)
    except RestanteError as error:
        return _unusable(error.message)
    if auth.status in ("invalid", "unsupported"):
        reason = f"policy file {place.config} failed signature verification ({auth.reason})"
        return _unusable(reason, auth)
    try:
        config = form.load(parts.prefix)
        if config is None:
            return Rules(auth=auth)
        if not isinstance(config, dict):
            raise Unreadable(f"policy file {place.config} must be a YAML mapping")
        return _rules(config, auth)
    except RestanteError as error:
        return _unusable(f"policy file {place.config}: {error.message}", auth)


def _unusable(reason: str, auth: PolicyAuth | None = None) -> Rules:
    return Rules(ENFORCE, reason, auth or PolicyAuth("invalid", reason=reason), is_strict=True)


def _rules(config: dict[object, object], auth: PolicyAuth) -> Rules:
    _check_spelling(config, "signing")
    signing, own = config.get("signing"), config.get("restante")
    if "signing" in config and not isinstance(signing, dict):
        raise Unreadable("signing must be a mapping")
    signing = signing if isinstance(signing, dict) else {}
    _check_spelling(signing, "verify_mode")
    mode = _mode(signing)
    strict = own.get("strict_audience", mode == ENFORCE) if isinstance(own, dict) else mode == ENFORCE
    signs, kid = signing.get("sign_messages", False), signing.get("kid", "")
    if not isinstance(strict, bool):
        raise Unreadable("restante.strict_audience must be true or false")
    if not isinstance(signs, bool):
        raise Unreadable("signing.sign_messages must be true or false")
    if not isinstance(kid, str):
        raise Unreadable("signing.kid must be text")
    return Rules(mode, None, auth, config, strict, signs, kid)


def _check_spelling(block: Mapping[object, object], name: str) -> None:
    """Refuse a key that is meant for another one: what it says would count for nothing."""
    plain = name.replace("_", "")
    for key in block:
        if key != name and isinstance(key, str) and re.sub(r"[^a-z]", "", key.lower()) == plain:
            raise Unreadable(f"{key!r:.40} is not {name}; all mail is held until it is")


def _mode(signing: Mapping[object, object]) -> str:
    if "verify_mode" not in signing:
        return OFF
    value = signing["verify_mode"]
    # YAML 1.1 reads a bare ``off`` as false.
    mode = OFF if value is False else value.lower() if isinstance(value, str) else ""
    if mode not in MODES:
        raise Unreadable(
            f"signing.verify_mode {value!r:.40} is none of {', '.join(MODES)}; all mail is held until it is one"
        )
    return mode


def read_pins(place: Place, form: Format) -> tuple[dict[str, Pin], str]:
    """Return whose keys a receiver believes, and why nobody's where the file cannot be used."""
    try:
        data = read_small(place.pins)
        if data is None:
            data = b""
        parts = form.split(data)
        proof = verify_policy(place, PINS, parts)
        if proof.status in ("invalid", "unsupported"):
            return {}, f"trust root signature {proof.status}: {proof.reason}"
        return (parse_pins(form.load(parts.prefix)) if data else {}), ""
    except BadAuth as error:
        return {}, f"pin file {place.pins}: {error.message}"
    except RestanteError as error:
        return {}, error.message


def read_pin_file(path: str, form: Format) -> tuple[dict[str, Pin], str]:
    """Return the pins of a file that somebody names, wherever it is; as ``read_pins``, without a signature."""
    try:
        data = read_small(path)
        return ({}, "") if data is None else (parse_pins(form.load(form.split(data).prefix)), "")
    except RestanteError as error:
        return {}, f"pin file {path}: {error.message}"


class ReceiverDesk:
    """A ``ports.intake.Verifier``: one receiver's decisions, read once.

    Args:
        place: Whose.
        form: How files are read.
        clock: The time.
    """

    def __init__(self, place: Place, form: Format, clock: Clock) -> None:
        self.place = place
        self.rules = read_rules(place, form)
        self._form = form
        self._clock = clock
        self._pins: tuple[dict[str, Pin], str] | None = None

    @property
    def mode(self) -> str:
        """See the port."""
        return self.rules.mode

    @property
    def policy_error(self) -> str | None:
        """See the port."""
        return self.rules.error

    def verify(self, raw: bytes, name: str = "") -> Verified:
        """See the port."""
        if self._pins is None:
            # Who cannot rely on the policy cannot rely on the pins that lie beside it.
            self._pins = ({}, "the receiver's policy") if self.rules.error else read_pins(self.place, self._form)
        pins, error = self._pins
        verified = verify(
            raw,
            pins,
            now=self._clock.now(),
            split=self._form.split,
            parse=self._form.parse,
            trust_source=self.place.pins,
            trust_error=error,
        )
        return self._for_us(verified, raw, name) if verified.is_verified else verified

    def _for_us(self, verified: Verified, raw: bytes, name: str) -> Verified:
        """Hold a proven message against the receiver it was written for."""
        fields = self._form.parse(self._form.split(raw).prefix)
        wrong = self._misdirected(fields, raw, name)
        if not wrong:
            return verified
        auth = {**verified.auth, "reason": wrong}
        if self.rules.is_strict:
            auth |= {"status": "invalid", "verified_signer": None, "verified_instance": None, "kid": None}
        return Verified(auth)

    def _misdirected(self, fields: Mapping[str, object], raw: bytes, name: str) -> str:
        to = fields.get("to")
        named = to if isinstance(to, list) else [to]
        if self.place.receiver not in named:
            shown = ", ".join(str(one) for one in named[:10])
            return f"audience: it is for {shown!r:.200}, not for {self.place.receiver!r}"
        other = ""
        if name and self._form.sent_in:
            with suppress(RestanteError):
                other = self._form.sent_in(self.place, fields, raw)
        return f"audience: it was sent in project {other!r}, not in {self.place.project!r}" if other else ""


class AgentSigner:
    """A ``ports.intake.Signer``: signs with all keys of an agent, or the one that its policy names.

    Args:
        home: The OACP home.
        agent: Who signs.
        split: Takes a signed file apart.
        kid: Only this key, where one is named.
    """

    def __init__(self, home: str, agent: str, split: Callable[[bytes], Parts], kid: str = "") -> None:
        self._split = split
        self._keys = signing_keys(home, agent, kid)

    def kids(self) -> list[str]:
        """See the port."""
        return [key.kid for key in self._keys]

    def sign(self, raw: bytes) -> bytes:
        """See the port.

        Raises:
            BadAuth: It is signed already, or does not end in a line feed.
        """
        if self._split(raw).state != "absent":
            raise BadAuth("it is signed already")
        return raw + trailer_line(seal(raw, self._keys, MESSAGE))
