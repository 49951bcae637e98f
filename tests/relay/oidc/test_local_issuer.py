"""Tokens of a local GitHub, over real HTTP: what its jobs show, our verifier takes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relay.oidc.verifier import AUDIENCE, OidcVerifier
from relay.parts import TokenRefusedError
from tests.github.serving import ServedGitHub, serve_devgithub
from tests.relay.oidc.issuing import Pipelines


@pytest.fixture
def github() -> Iterator[ServedGitHub]:
    """A local GitHub with one backend."""
    with serve_devgithub() as served:
        served.state.add_repository("a/l2")
        yield served


@pytest.fixture
def keeper(github: ServedGitHub) -> Iterator[OidcVerifier]:
    """A verifier that believes it, by the machine's clock."""
    verifier = OidcVerifier(Pipelines, dev_issuer=github.url)
    yield verifier
    verifier.close()


def test_a_job_of_the_local_github_is_believed(github: ServedGitHub, keeper: OidcVerifier) -> None:
    """With all that it says; nothing has to be configured but where it is."""
    claims = keeper.verify(f"Bearer {github.state.oidc.mint('a/l2', run_id=77)}")
    assert (claims.repo, claims.issuer, claims.claims["run_id"]) == ("a/l2", github.url, "77")
    assert claims.jti


@pytest.mark.parametrize(
    "changes",
    [{"aud": "other"}, {"exp": 1}, {"repository": None}, {"iss": "https://token.actions.githubusercontent.com"}],
)
def test_its_wrong_tokens_are_refused_like_everybodys(
    github: ServedGitHub, keeper: OidcVerifier, changes: dict[str, object | None]
) -> None:
    """And its key speaks for it alone."""
    # The compiled-in issuer is not asked here: this machine's tests reach nothing outside.
    if "iss" in changes:
        keeper._anchors["https://token.actions.githubusercontent.com"] = keeper._anchors[github.url]
    with pytest.raises(TokenRefusedError) as refused:
        keeper.verify(github.state.oidc.mint("a/l2", audience=AUDIENCE, changes=changes))
    assert refused.value.status == 401
