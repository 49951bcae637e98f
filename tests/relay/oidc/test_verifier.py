"""Who a bearer token speaks for: what is believed, what is refused and with which status, and what is never let out."""

from __future__ import annotations

import re
from datetime import timedelta

import httpx
import jwt
import pytest
import structlog.testing
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import SettingsError
from relay.oidc.issuers import BUILDKITE_ISSUER, GITHUB_ISSUER
from relay.oidc.verifier import AUDIENCE, OidcVerifier, bearer
from relay.parts import TokenRefusedError, TokenVerifier
from tests.relay.oidc.issuing import (
    NOW,
    Publisher,
    buildkite_claims,
    forged,
    github_claims,
    private_key,
    public_jwk,
    published,
    signed,
    verifier,
)

HEADER = {"alg": "RS256", "typ": "JWT", "kid": "github-1"}


def refusal(token: str, by: OidcVerifier | None = None) -> TokenRefusedError:
    """How a token is refused."""
    with pytest.raises(TokenRefusedError) as refused:
        (by or verifier()).verify(f"Bearer {token}")
    return refused.value


def test_a_good_token_says_for_whom_from_whom_and_how_long() -> None:
    """Everything a callback needs comes from the token alone."""
    keeper: TokenVerifier = verifier()
    claims = keeper.verify(f"Bearer {signed(github_claims('Ascend/pytorch', run_id='77'))}")
    assert (claims.repo, claims.issuer, claims.jti) == ("Ascend/pytorch", GITHUB_ISSUER, "j1")
    assert claims.claims["run_id"] == "77"
    assert claims.expires_at >= NOW + timedelta(seconds=300)
    assert "77" not in repr(claims)


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER  ", "", "  bEaReR\t"])
def test_the_scheme_may_be_missing_and_in_any_case(scheme: str) -> None:
    """The same token, the same result."""
    assert verifier().verify(scheme + signed(github_claims())).repo == "a/l2"


@pytest.mark.parametrize("header", [None, "", "Bearer", "bearer ", "   "])
def test_no_token_is_missing(header: str | None) -> None:
    """401, and the word that tells it from a wrong one."""
    with pytest.raises(TokenRefusedError, match="Missing authorization token") as refused:
        verifier().verify(header)
    assert refused.value.status == 401


def test_a_token_without_end_in_size_is_not_decoded() -> None:
    """The cap comes before any parsing."""
    with pytest.raises(TokenRefusedError, match="longer than"):
        bearer("Bearer " + "a" * 16_385)


BAD_TOKENS = {
    "another audience": signed(github_claims(aud="somebody-else")),
    "no audience": signed(github_claims(aud=None)),
    "a list of other audiences": signed(github_claims(aud=["x", "y"])),
    "an audience that is a number": forged(HEADER, github_claims(aud=7)),
    "another key's signature": signed(github_claims(), "stranger", kid="github-1"),
    "a key id nobody publishes": signed(github_claims(), "stranger"),
    "no key id": jwt.encode(github_claims(), private_key("github-1"), algorithm="RS256"),
    "no signature": forged(HEADER | {"alg": "none"}, github_claims(), b""),
    "alg None spelled otherwise": forged(HEADER | {"alg": "NoNe"}, github_claims(), b""),
    "a shared secret": jwt.encode(github_claims(), "s" * 64, algorithm="HS256", headers={"kid": "github-1"}),
    "another RSA algorithm": jwt.encode(
        github_claims(), private_key("github-1"), algorithm="RS512", headers={"kid": "github-1"}
    ),
    "expired": signed(github_claims(exp=int(NOW.timestamp()) - 31)),
    "not valid yet": signed(github_claims(nbf=int(NOW.timestamp()) + 31)),
    "issued in the future": signed(github_claims(iat=int(NOW.timestamp()) + 31)),
    "issued long ago": signed(github_claims(iat=int(NOW.timestamp()) - 3_631, nbf=None)),
    "no time of issue": signed(github_claims(iat=None)),
    "an end that is a text": signed(github_claims(exp="9999999999")),
    "an end that is true": signed(github_claims(exp=True)),
    "a jti that is a number": signed(github_claims(jti=7)),
    "a jti longer than its column": signed(github_claims(jti="j" * 201)),
}


@pytest.mark.parametrize("name", BAD_TOKENS)
def test_what_a_token_lacks_is_401(name: str) -> None:
    """And in ours the answer says what it is; the original's text stands first."""
    refused = refusal(BAD_TOKENS[name])
    assert refused.status == 401
    assert re.fullmatch(r"Invalid authorization token: \S.*", refused.detail)


UNREADABLE = {
    "an unknown critical extension": forged(HEADER | {"crit": ["exp2"], "exp2": 1}, github_claims()),
    "no dots": "garbage",
    "too many parts": "a.b.c.d.e",
    "header no object": forged([], github_claims()),
    "header no JSON": forged(b"{", github_claims()),
    "payload no object": forged(HEADER, ["iss"]),
    "payload no JSON": forged(HEADER, b"\xff\xfe"),
    "payload nested beyond reason": forged(HEADER, b"[" * 9_000),
    "header nested beyond reason": forged(b'{"alg":' + b"[" * 9_000, github_claims()),
    "a number beyond reason": forged(HEADER, b'{"iss": 1' + b"0" * 5_000 + b"}"),
    "not ASCII": "é.é.é",
    "kid no text": forged(HEADER | {"kid": 7}, github_claims()),
    "issuer a list": forged(HEADER, github_claims(iss=[GITHUB_ISSUER])),
    "issuer a mapping": forged(HEADER, github_claims(iss={})),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_token_of_a_known_issuer_is_an_unsupported_issuer(name: str) -> None:
    """401, never an accident of the parser."""
    refused = refusal(UNREADABLE[name])
    assert (refused.status, refused.detail.startswith("Unsupported OIDC issuer")) == (401, True)


@given(st.text(max_size=60) | st.builds(forged, st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=9)))
def test_no_text_whatsoever_brings_the_verifier_down(token: str) -> None:
    """Every input ends in an answer."""
    with pytest.raises(TokenRefusedError):
        verifier().verify(token)


@pytest.mark.parametrize(
    "issuer",
    [
        None,
        "",
        "https://rogue.invalid",
        GITHUB_ISSUER + "/",
        GITHUB_ISSUER.upper(),
        GITHUB_ISSUER + "@rogue.invalid",
        GITHUB_ISSUER.replace("https", "http"),
    ],
)
def test_only_the_exact_issuers_are_known(issuer: str | None) -> None:
    """No normalisation, no prefix; nobody else's server is asked for keys."""
    publisher = published()
    refused = refusal(signed(github_claims(iss=issuer)), verifier(publisher))
    assert (refused.status, refused.detail.startswith("Unsupported OIDC issuer")) == (401, True)
    assert publisher.asked == []


def test_an_issuers_name_is_quoted_short_and_on_one_line() -> None:
    """It is a stranger's text."""
    refused = refusal(signed(github_claims(iss="x\r\n\x1b[31m" + "y" * 900)))
    assert refused.detail.isprintable()
    assert len(refused.detail) < 250


@pytest.mark.parametrize(("claims", "kid"), [(github_claims(), "buildkite-1"), (buildkite_claims(), "github-1")])
def test_one_issuers_key_never_speaks_for_the_other(claims: dict[str, object], kid: str) -> None:
    """The issuer a token names is the only one whose keys are tried."""
    assert refusal(signed(claims, kid)).status == 401


def test_an_issuer_that_publishes_anothers_key_still_speaks_for_itself_only() -> None:
    """Even with one key in both sets, a token is judged as its own issuer's."""
    publisher = published()
    publisher.publish(BUILDKITE_ISSUER, public_jwk("github-1"))
    claims = github_claims(iss=BUILDKITE_ISSUER, repository="a/l4")
    refused = refusal(signed(claims), verifier(publisher))
    assert "organization_id" in refused.detail


def test_one_of_several_audiences_may_be_ours() -> None:
    """`aud` may be a list (RFC 7519 4.1.3)."""
    assert verifier().verify(signed(github_claims(aud=["x", AUDIENCE]))).repo == "a/l2"


@pytest.mark.parametrize("strict", [False, True])
def test_a_token_without_end_is_good_in_strict_mode_only(strict: bool) -> None:
    """The original accepts it; there it gets an end of ours, for the record."""
    token = signed(github_claims(exp=None, iat=None, nbf=None))
    if strict:
        assert verifier(strict=True).verify(token).expires_at > NOW
    else:
        assert "no 'exp'" in refusal(token).detail


def test_strict_answers_with_the_originals_words() -> None:
    """No cause is added."""
    assert refusal(BAD_TOKENS["expired"], verifier(strict=True)).detail == "Invalid authorization token"


UNREACHABLE = (
    httpx.ConnectError("refused"),
    httpx.ReadTimeout("slow"),
    httpx.Response(500),
    httpx.Response(302, headers={"Location": "https://rogue.invalid/keys"}),
    httpx.Response(200, content=b"<html>"),
    httpx.Response(200, json={"keys": []}),
    httpx.Response(200, content=b" " * (1024 * 1024 + 1)),
)


@pytest.mark.parametrize("answer", UNREACHABLE, ids=str)
@pytest.mark.parametrize("strict", [False, True])
def test_without_keys_the_caller_is_told_to_come_again(answer: httpx.Response | Exception, strict: bool) -> None:
    """503, which clients repeat; the original's 401 in strict mode. Nothing of the failure leaks."""
    publisher = Publisher()
    publisher.fail(GITHUB_ISSUER, answer)
    refused = refusal(signed(github_claims()), verifier(publisher, strict=strict))
    assert refused.status == (401 if strict else 503)
    assert "http" not in refused.detail


def test_every_compiled_in_issuer_is_asked_at_its_own_address() -> None:
    """The keys' address is not configurable."""
    publisher = published()
    keeper = verifier(publisher)
    keeper.verify(signed(github_claims()))
    keeper.verify(signed(buildkite_claims(), "buildkite-1"))
    assert publisher.asked == [
        "https://token.actions.githubusercontent.com/.well-known/jwks",
        "https://agent.buildkite.com/.well-known/jwks",
    ]
    keeper.close()


def test_a_local_issuer_is_believed_and_warned_of() -> None:
    """For a GitHub of one's own; it speaks as GitHub does."""
    publisher = published()
    publisher.publish("http://127.0.0.1:8100", public_jwk("local-1"))
    with structlog.testing.capture_logs() as logs:
        keeper = verifier(publisher, dev_issuer="http://127.0.0.1:8100")
    assert [entry["log_level"] for entry in logs] == ["warning"]
    assert keeper.verify(signed(github_claims(iss="http://127.0.0.1:8100"), "local-1")).repo == "a/l2"
    assert refusal(signed(github_claims(), "local-1"), keeper).status == 401


@pytest.mark.parametrize(
    "url",
    ["https://ci.example", "http://10.0.0.1", "ftp://127.0.0.1", "http://127.0.0.1.example", "127.0.0.1", "http://"],
)
def test_a_local_issuer_elsewhere_stops_the_start(url: str) -> None:
    """Otherwise one setting would let anybody speak for every backend."""
    with pytest.raises(SettingsError, match="RELAY_DEV_OIDC_ISSUER"):
        verifier(dev_issuer=url)


def test_a_claim_nobody_knows_is_reported_once_and_has_no_effect() -> None:
    """Operators learn that an issuer has something new to say; its value is not logged."""
    keeper = verifier()
    with structlog.testing.capture_logs() as logs:
        for _ in range(3):
            assert keeper.verify(signed(github_claims(moon_phase="secret-value"))).repo == "a/l2"
    assert [entry.get("claim") for entry in logs] == ["moon_phase"]
    assert "secret-value" not in str(logs)


def test_no_refusal_quotes_the_token() -> None:
    """Not a part of it, neither in the answer nor in the log."""
    with structlog.testing.capture_logs() as logs:
        for token in BAD_TOKENS.values():
            said = refusal(token).detail
            assert not any(part and part in said for part in token.split(".")[1:])
    assert not any(token in str(logs) for token in BAD_TOKENS.values())
