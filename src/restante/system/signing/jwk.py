"""Ed25519 keys as JSON Web Keys (RFC 8037) and their thumbprints (RFC 7638).

The library is imported inside the functions that compute with a key: most commands make and check no signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import StorageFailed
from restante.system.signing.encoding import BadAuth, decode_exact, encode, is_base64url

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEY_BYTES = 32
_MEMBERS = {"kty", "crv", "x"}


class NoCrypto(StorageFailed):
    """The library that makes and checks signatures is not installed."""

    code = "no_crypto"

    def __init__(self) -> None:
        super().__init__("signatures need the package cryptography", remedy="pip install 'restante[oacp]'")


def thumbprint(x: str) -> str:
    """Return the name of a public key, its ``kid``: 43 digits.

    Args:
        x: The public key as it stands in a JWK.
    """
    import hashlib

    text = f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'
    return encode(hashlib.sha256(text.encode("ascii")).digest())


def public_jwk(x: str) -> dict[str, object]:
    """Return a public key as JWK."""
    return {"kty": "OKP", "crv": "Ed25519", "x": x}


def public_x(jwk: object) -> str:
    """Return the key of a public JWK.

    Raises:
        BadAuth: It is none; above all, it holds a private member.
    """
    if not isinstance(jwk, dict):
        raise BadAuth("jwk must be a mapping")
    if extra := sorted(repr(key) for key in jwk if key not in _MEMBERS):
        raise BadAuth(
            f"jwk carries unexpected members {', '.join(extra)} — only kty, crv and x; "
            "what is private never enters a trust file"
        )
    if jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519":
        raise BadAuth("jwk must be an OKP key on Ed25519")
    x = jwk.get("x")
    if not isinstance(x, str) or not is_base64url(x) or len(decode_exact(x, "jwk x")) != KEY_BYTES:
        raise BadAuth(f"jwk x must be {KEY_BYTES} bytes as unpadded base64url")
    return x


def new_seed() -> bytes:
    """Return a fresh private key."""
    import os

    return os.urandom(KEY_BYTES)


def derive_x(seed: bytes) -> str:
    """Return the public key of a private one.

    Raises:
        NoCrypto: The library is missing.
    """
    return encode(_library()[0].from_private_bytes(seed).public_key().public_bytes_raw())


def make_signature(seed: bytes, data: bytes) -> bytes:
    """Return the signature of data: deterministic, 64 bytes (RFC 8032).

    Raises:
        NoCrypto: The library is missing.
    """
    return _library()[0].from_private_bytes(seed).sign(data)


def holds(x: str, signature: bytes, data: bytes) -> bool:
    """Tell whether a signature of data was made with the private key of ``x``.

    Raises:
        NoCrypto: The library is missing.
    """
    public = _library()[1]
    from cryptography.exceptions import InvalidSignature

    try:
        public.from_public_bytes(decode_exact(x, "jwk x")).verify(signature, data)
    except (InvalidSignature, ValueError, BadAuth):
        return False
    return True


def has_crypto() -> bool:
    """Tell whether signatures can be checked."""
    try:
        _library()
    except NoCrypto:
        return False
    return True


def _library() -> tuple[type[Ed25519PrivateKey], type[Ed25519PublicKey]]:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    except ImportError:
        raise NoCrypto from None
    return Ed25519PrivateKey, Ed25519PublicKey
