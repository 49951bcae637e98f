"""RSA keys of apps and of the issuer of tokens: made here, written as PEM and as the JSON of a key set (RFC 7517)."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

_BITS = 2048


def new_private_pem() -> str:
    """A fresh private key in the form that GitHub lets an app's owner download."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=_BITS)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


@lru_cache(maxsize=4)
def private_key(private_pem: str) -> rsa.RSAPrivateKey:
    """The key itself. Reading one takes many times as long as signing with it, so the last ones are kept.

    Raises:
        ValueError: the text is no RSA private key.
    """
    key = serialization.load_pem_private_key(private_pem.encode(), password=None)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise ValueError("the key is not an RSA private key")  # noqa: TRY004 - the text is wrong, not its type
    return key


def public_key(private_pem: str) -> rsa.RSAPublicKey:
    """The public half. Raises ValueError when the text is no RSA private key."""
    return private_key(private_pem).public_key()


def key_id(private_pem: str) -> str:
    """A name for the key that follows from it, so that it is the same after a restart."""
    return hashlib.sha256(str(public_key(private_pem).public_numbers().n).encode()).hexdigest()[:32]


def jwk(private_pem: str) -> dict[str, str]:
    """The public half as a member of a key set."""
    numbers = public_key(private_pem).public_numbers()
    return {
        "kty": "RSA",
        "use": "sig",
        "alg": "RS256",
        "kid": key_id(private_pem),
        "n": _base64url(numbers.n),
        "e": _base64url(numbers.e),
    }


def _base64url(number: int) -> str:
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
