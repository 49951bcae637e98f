"""The log of the stand-in's runs: lines at fixed places, told page by page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response

from relay.contract import LogKind
from relay.log_views import LogLineView, LogPage
from relay.views import ApiError


def a_line(number: int, text: str, kind: LogKind = LogKind.TEST, *, shard: int = 1, attempt: int = 1) -> LogLineView:
    """The nth line of a run; where it stands grows with its number."""
    return LogLineView(
        place=f"1.{number}", shard=shard, attempt=attempt, number=number, at=number / 4, kind=kind, text=text
    )


_RELU = "test/test_ops.py::TestOpsSPYRE::test_relu_spyre_float32"
USUAL = (
    a_line(1, "collecting test/test_ops.py (1 of 1)", LogKind.STEP),
    a_line(2, "collected 3 tests of test/test_ops.py"),
    a_line(3, "running test/test_ops.py (1 of 1)", LogKind.STEP, shard=2),
    a_line(4, f"failed       0.100 s  {_RELU}", LogKind.FAILURE, shard=2),
    a_line(5, "    AssertionError: Tensor-likes are not close!", LogKind.OUTPUT, shard=2),
    a_line(6, f"passed       0.100 s  {_RELU} on base", shard=2),
)


@dataclass
class StandInLog:
    """Lines of every run. `away` holds status codes answered before anything else; `growing` are the lines that come
    with each further look, and the run is over when there are none left."""

    lines: list[LogLineView] = field(default_factory=lambda: list(USUAL))
    growing: list[Sequence[LogLineView]] = field(default_factory=list)
    away: list[int] = field(default_factory=list)
    page_lines: int = 500
    kept: bool = True
    asked: list[str] = field(default_factory=list)

    def page(self, after: str, shard: int | None, attempt: int | None) -> LogPage:
        """The next lines, as the service answers them."""
        self.asked.append(after)
        wanted = [line for line in self.lines if shard in {None, line.shard} and attempt in {None, line.attempt}]
        rest = [line for line in wanted if not after or line.number > int(after.partition(".")[2])]
        due = rest[: self.page_lines]
        more, over = len(rest) > len(due), not self.growing
        if self.growing:
            self.lines.extend(self.growing.pop(0))
        return LogPage(
            lines=tuple(due), logs=(), first=due[0].place if due else after, last=due[-1].place if due else after,
            earlier=bool(after), later=more, searched=len(due), total=len(wanted), over=over and not more,
        )  # fmt: skip


def add_log_route(app: FastAPI, log: StandInLog, is_known: Callable[[int], bool]) -> None:
    @app.get("/api/v1/runs/{run_id}/log")
    def read(run_id: int, after: str = "", shard: int | None = None, attempt: int | None = None) -> Response:
        if log.away:
            return JSONResponse(ApiError(code="busy", message="not now").model_dump(), log.away.pop(0))
        if not log.kept or not is_known(run_id):
            return JSONResponse(ApiError(code="not_found", message="no such path").model_dump(), 404)
        return JSONResponse(log.page(after, shard, attempt).model_dump(mode="json"))
