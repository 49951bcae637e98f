"""Only our own signature over the very bytes is accepted."""

from __future__ import annotations

import pytest

from relay.intake.signature import SignatureMismatchError, SignatureMissingError, check_signature, sign

SECRET = "It's a Secret to Everybody"
BODY = b"Hello, World!"
# The worked example of GitHub's page on validating deliveries.
PUBLISHED = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_agrees_with_the_published_example() -> None:
    assert sign(SECRET, BODY) == PUBLISHED
    check_signature(SECRET, BODY, PUBLISHED)


@pytest.mark.parametrize("header", [None, ""])
def test_no_signature_is_missing(header: str | None) -> None:
    with pytest.raises(SignatureMissingError):
        check_signature(SECRET, BODY, header)


@pytest.mark.parametrize(
    "header",
    [
        PUBLISHED.removeprefix("sha256="),
        PUBLISHED.upper(),
        "SHA256=" + PUBLISHED.removeprefix("sha256="),
        "sha256=" + PUBLISHED.removeprefix("sha256=").upper(),
        PUBLISHED[:-1],
        PUBLISHED + " ",
        "sha1=2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
        "sha256=é\udcff",
    ],
)
def test_anything_else_is_a_mismatch(header: str) -> None:
    with pytest.raises(SignatureMismatchError):
        check_signature(SECRET, BODY, header)


@pytest.mark.parametrize(("secret", "body"), [("another", BODY), (SECRET, BODY + b"\n"), (SECRET, b"")])
def test_secret_and_every_byte_count(secret: str, body: bytes) -> None:
    with pytest.raises(SignatureMismatchError):
        check_signature(secret, body, PUBLISHED)


def test_an_empty_secret_signs_nothing() -> None:
    with pytest.raises(ValueError, match="RELAY_WEBHOOK_SECRET"):
        check_signature("", BODY, PUBLISHED)
