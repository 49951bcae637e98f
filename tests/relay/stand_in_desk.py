"""What an operator finds at the desk of the stand-in: audits, tokens, deliveries, dispatches; one of each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from relay.access_views import NewToken, Scope, TokenPage, TokenState, TokenView
from relay.audit_views import AuditedTest, AuditOutcome, AuditPage, AuditState, AuditView
from relay.outbox.views import LetterDetail, LetterView
from relay.views import ApiError, RunSummary, SubmissionView

_THEN = datetime(2024, 5, 4, 10, 0, tzinfo=UTC)
#: Runs that dispatches of these names lead to.
_RUNS = {"red": 1, "running": 2, "green": 3}

AUDIT = AuditView(
    id=7,
    device="spyre",
    base_sha="a" * 40,
    head_sha="b" * 40,
    state=AuditState.SETTLED,
    created_at=_THEN,
    finished_at=_THEN,
    tests=(
        AuditedTest(test="test/test_ops.py::TestOps::test_relu", outcome=AuditOutcome.MISSED, asked=1, missed_by=3),
    ),
)
TOKEN_ABOUT = TokenView(
    id=5,
    name="robot",
    scope=Scope.READ,
    state=TokenState.VALID,
    created_at=_THEN,
    created_by="operator (settings)",
    expires_at=None,
    last_used_at=None,
    revoked_at=None,
)


def _none(kind: str) -> JSONResponse:
    hint = f"relay {kind} list shows those there are."
    return JSONResponse(ApiError(code="not_found", message=f"There is no such {kind}.", hint=hint).model_dump(), 404)


def add_desk_routes(app: FastAPI, runs: Mapping[int, RunSummary], letter: LetterView) -> None:
    """All of them."""
    _add_access_routes(app)

    @app.get("/api/v1/audits")
    def audits() -> AuditPage:
        return AuditPage(audits=(AUDIT,))

    @app.post("/api/v1/audits", status_code=201)
    def start(device: str = AUDIT.device) -> AuditView:
        return AUDIT.model_copy(update={"device": device})

    @app.get("/api/v1/audits/{audit_id}")
    def audit(audit_id: int) -> Response:
        return JSONResponse(AUDIT.model_dump(mode="json")) if audit_id == AUDIT.id else _none("audit")

    @app.get("/api/v1/outbox/{letter_id}")
    def one_letter(letter_id: int) -> Response:
        if letter_id != letter.id:
            return _none("delivery")
        return JSONResponse(
            LetterDetail(
                letter=letter, key="dispatch:1", lane="acme/torch", open_since=_THEN, dispatch=None
            ).model_dump(mode="json")
        )

    @app.post("/github/callback")
    def take() -> dict[str, bool]:
        return {"ok": True}

    @app.post("/api/v1/dispatches")
    async def submit(request: Request) -> SubmissionView:
        name = (await request.json())["delivery_id"]
        run = runs.get(_RUNS.get(name, 0))
        note = "" if run else "nothing of it can be tested here"
        return SubmissionView(delivery_id=name, repeated=False, note=note, run=run)


def _add_access_routes(app: FastAPI) -> None:
    @app.get("/api/v1/tokens")
    def tokens() -> TokenPage:
        return TokenPage(tokens=(TOKEN_ABOUT,), next_before=None)

    @app.post("/api/v1/tokens", status_code=201)
    def create() -> NewToken:
        return NewToken(token="relay_the-value-of-it", about=TOKEN_ABOUT)

    @app.delete("/api/v1/tokens/{token_id}")
    def revoke(token_id: int) -> Response:
        return JSONResponse(TOKEN_ABOUT.model_dump(mode="json")) if token_id == TOKEN_ABOUT.id else _none("token")
