"""The text of a signature: one spelling, exact members, and no way for bytes to break what reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restante.system.signing.encoding import BadAuth, decode, decode_exact, encode
from restante.system.signing.jose import MESSAGE, POLICY, Signing, check_auth, seal, unseal
from restante.system.signing.jwk import derive_x, thumbprint

SEED = bytes(range(32))
KEY = Signing(
    thumbprint(derive_x(SEED)),
    SEED,
    "alice",
    "3f54e34d-9d31-4c8a-a5a7-64766f636170",
    "aa11e9c2-0000-4000-8000-666978747572",
)
PAYLOAD = b"from: alice\n"
VALUE = seal(PAYLOAD, [KEY], MESSAGE)
ENTRY = json.loads(decode(VALUE))["signatures"][0]
HEADER = json.loads(decode(ENTRY["protected"]))


def compact(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def container(value: object) -> str:
    return encode(compact(value))


def with_header(**changes: Any) -> str:
    header = {key: value for key, value in {**HEADER, **changes}.items() if value is not None}
    return container({"signatures": [{**ENTRY, "protected": encode(compact(header))}]})


def with_claims(**changes: Any) -> str:
    return with_header(oacp={key: value for key, value in {**HEADER["oacp"], **changes}.items() if value is not None})


KID = "kid must be an RFC 7638 SHA-256 JWK thumbprint (43 unpadded base64url characters)"
FORM = "agent identity name must match ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
URN = "urn:oacp:agent:3f54e34d-9d31-4c8a-a5a7-64766f636170:"
EXACT = "signatures[0] must be exactly {protected, signature}"
NONE = "auth container must carry a non-empty signatures array"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("A", "invalid base64url length"),
        ("", "invalid base64url value"),
        ("abc=", "invalid base64url value"),
        (container([]), "auth container must be a JSON object"),
        (container("x"), "auth container must be a JSON object"),
        (container({}), NONE),
        (container({"signatures": []}), NONE),
        (container({"signatures": {}}), NONE),
        (encode(b'{"signatures":NaN}'), NONE),
        (container({"signatures": [ENTRY], "payload": "x"}), "auth container has unexpected member(s): payload"),
        (container({"signatures": [ENTRY] * 9}), "signatures array exceeds maximum of 8"),
        (container({"signatures": ["x"]}), EXACT),
        (container({"signatures": [{**ENTRY, "header": {}}]}), EXACT),
        (container({"signatures": [{"protected": ENTRY["protected"]}]}), EXACT),
        (container({"signatures": [{**ENTRY, "protected": 1}]}), "signatures[0].protected must be unpadded base64url"),
        (container({"signatures": [{**ENTRY, "signature": ""}]}), "signatures[0].signature must be unpadded base64url"),
        (container({"signatures": [{**ENTRY, "protected": "A" * 4097}]}), "protected header missing or oversized"),
        (container({"signatures": [{**ENTRY, "protected": encode(b"[]")}]}), "protected header must be a JSON object"),
        (encode(b'{"signatures":[],"signatures":[]}'), "duplicate JSON key: 'signatures'"),
        (with_header(alg="none"), "alg must be 'EdDSA'"),
        (with_header(alg=None), "missing protected header member(s): alg"),
        (with_header(typ="JWT"), "typ must be 'oacp-message+yaml'"),
        (with_header(typ="oacp-policy+yaml"), "typ must be 'oacp-message+yaml'"),
        (with_header(crit=["oacp", "b64"]), "crit must be exactly ['oacp']"),
        (with_header(crit="oacp"), "crit must be exactly ['oacp']"),
        (with_header(kid="abc"), KID),
        (with_header(kid=3), KID),
        (with_header(kid="x" * 42 + "\n"), KID),
        (with_header(b64=False), "unknown protected header member(s): b64"),
        *[
            (with_header(**{name: "x"}), f"forbidden JOSE parameter: {name!r}")
            for name in ("jku", "jwk", "x5u", "x5c", "x5t", "x5t#S256")
        ],
        (with_header(oacp="x"), "oacp header member must be a JSON object"),
        (with_claims(agent=None), "missing oacp header member(s): agent"),
        (with_claims(zz=1), "unknown oacp header member(s): zz"),
        (with_claims(policy={}), "unknown oacp header member(s): policy"),
        (with_claims(agent="alice"), "agent identity must start with 'urn:oacp:agent:'"),
        (with_claims(agent="urn:oacp:agent:xyz:alice"), "agent identity trust domain must be a UUID, got 'xyz'"),
        (with_claims(agent=URN + "alice\n"), FORM),
        (with_claims(agent=URN + "a" * 65), FORM),
        (with_claims(agent=URN + ".."), FORM),
        (with_claims(domain="urn:oacp:policy:v1"), "unknown signing domain: 'urn:oacp:policy:v1'"),
        (with_claims(scheme="x"), "unknown signing scheme: 'x'"),
        (with_claims(instance="x"), "instance identity must start with 'urn:uuid:'"),
        (with_claims(instance="urn:uuid:x"), "instance identity must be urn:uuid:<uuid>, got suffix 'x'"),
    ],
)
def test_what_is_wrong_with_a_signature_is_told_in_the_published_words(value: str, reason: str) -> None:
    assert check_auth(value) == reason


def test_a_sound_signature_is_found_sound() -> None:
    assert check_auth(VALUE) is None
    (entry,) = unseal(VALUE, MESSAGE)
    assert (entry.kid, entry.agent) == (KEY.kid, "alice")


@pytest.mark.parametrize(
    "data", [b"[" * 12_000, b'{"signatures":' + b"[" * 11_000, b'{"signatures":' + b"9" * 9_000 + b"}", b"\xff\xfe"]
)
def test_hostile_json_is_an_answer_and_no_crash(data: bytes) -> None:
    assert "is not valid JSON" in (check_auth(encode(data)) or "")


def test_an_oversized_value_is_not_even_decoded() -> None:
    assert check_auth("A" * 16_385) == "auth value is oversized (max 16384 chars)"


def test_names_of_others_are_shown_without_control_characters() -> None:
    told = check_auth(container({"\ud800\x1b[2J": 1, "signatures": [ENTRY]})) or ""
    assert told.isprintable()
    assert "unexpected member" in told


def test_a_signature_for_a_policy_is_none_for_a_message_and_the_other_way_round() -> None:
    policy = {"project": "p", "receiver": "r", "kind": "receiver_config"}
    value = seal(PAYLOAD, [KEY], POLICY, policy)
    assert check_auth(value) == "typ must be 'oacp-message+yaml'"
    with pytest.raises(BadAuth, match="typ must be 'oacp-policy\\+yaml'"):
        unseal(VALUE, POLICY)
    assert unseal(value, POLICY)[0].policy == policy


@pytest.mark.parametrize(("payload", "count"), [(b"no line feed", 1), (PAYLOAD, 0), (PAYLOAD, 9)])
def test_what_may_not_be_signed_is_not_signed(payload: bytes, count: int) -> None:
    with pytest.raises(BadAuth):
        seal(payload, [KEY] * count, MESSAGE)


@given(st.binary(min_size=1, max_size=80))
def test_bytes_have_exactly_one_text(data: bytes) -> None:
    text = encode(data)
    assert decode_exact(text, "it") == data
    for digit in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_":
        other = text[:-1] + digit
        if other != text and decode(other) == data:
            with pytest.raises(BadAuth, match="second spelling"):
                decode_exact(other, "it")


@given(st.text(max_size=300) | st.binary(max_size=300).map(encode))
def test_no_text_at_all_breaks_the_reader_of_signatures(value: str) -> None:
    assert check_auth(value) is not None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from([ENTRY["protected"], "EdDSA"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["signatures", "protected", "signature", "alg", "oacp", "kid"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_json_but_a_container_passes(value: object) -> None:
    assert check_auth(container(value)) is not None


@given(JSON)
def test_no_header_but_a_sound_one_passes(value: object) -> None:
    if value != HEADER:
        entry = {**ENTRY, "protected": encode(compact(value))}
        assert check_auth(container({"signatures": [entry]})) is not None
