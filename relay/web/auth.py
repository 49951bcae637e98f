"""Bearer tokens of the worker and the operator API, compared in constant time. Knows no users and no sessions."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import Depends, Header
from pydantic import SecretStr

from relay.context import Context
from relay.errors import UnauthorizedError

_SCHEME = "bearer "

Authorization = Annotated[str, Header()]


def require_worker(context: Context, authorization: Authorization = "") -> None:
    """Let only workers pass.

    Raises:
        UnauthorizedError: no or another token.
    """
    _require(authorization, context.settings.worker_token, "worker", "RELAY_WORKER_TOKEN")


def require_operator(context: Context, authorization: Authorization = "") -> None:
    """Let only operators pass.

    Raises:
        UnauthorizedError: no or another token.
    """
    _require(authorization, context.settings.operator_token, "operator", "RELAY_OPERATOR_TOKEN")


WorkerOnly = Depends(require_worker)
OperatorOnly = Depends(require_operator)


def _require(authorization: str, expected: SecretStr | None, who: str, variable: str) -> None:
    given = authorization[len(_SCHEME) :].strip() if authorization.lower().startswith(_SCHEME) else ""
    if expected is None or not hmac.compare_digest(given.encode(), expected.get_secret_value().encode()):
        what = "is not the relay's" if given else "is missing"
        raise UnauthorizedError(
            f"The {who} token {what}.",
            f"Send 'Authorization: Bearer <token>' with the value of {variable}, "
            f"or of the {who}-token file in the relay's state folder.",
        )
