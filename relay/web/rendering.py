"""How a page is made: the template environment, what every page says, and the files beside it.

Escaping is on for every template and nothing is marked safe, so text from upstream is never markup. The headers that
fence a page in are those of every answer (`relay.web.visit`). Knows no route.
"""

from __future__ import annotations

from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context as TemplateContext
from starlette.responses import Response
from starlette.types import Scope

from relay.context import RelayContext
from relay.views import RunSummary
from relay.web import access_words, wording
from relay.web.forms import TOKEN_FIELD
from relay.web.visit import current_visit

_HERE = Path(__file__).parent


class PageAssets(StaticFiles):
    """The style sheet, the script and the icon, to be mounted at `/static`."""

    def __init__(self) -> None:
        super().__init__(directory=_HERE / "static")

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        # Ask each time (cheap, by ETag): a page and its script must be of the same version after an upgrade.
        response.headers["Cache-Control"] = "no-cache"
        return response


class Pages:
    """Renders templates by name."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(_filters())

    def render(self, template: str, context: RelayContext, *, status: int = 200, **values: Any) -> HTMLResponse:
        """A page with the values every page needs added to `values`."""
        settings = context.settings
        html = self._environment.get_template(template).render(
            now=context.now(),
            version=version("oot-relay"),
            device=settings.device,
            upstream_repo=settings.upstream_repo,
            manifest_problem=context.manifest_problem(),
            visit=current_visit(),
            form_field=TOKEN_FIELD,
            **values,
        )
        return HTMLResponse(html, status, headers={"Cache-Control": "no-store"})


def _filters() -> dict[str, Any]:
    words = (
        *(wording.run_word, wording.verdict_word, wording.shard_word, wording.last_word),
        *(
            wording.stage_name,
            wording.selection_sentence,
            wording.plan_sentence,
            wording.audit_sentence,
            wording.by_weight,
            wording.share_of,
        ),
        *(wording.environment, wording.sandbox_word, wording.weak_sandbox_word, wording.weak_sandbox_sentence),
        *(access_words.run_actions, access_words.action_word, access_words.scope_sentence),
        *(access_words.may_operate, access_words.may_not_operate),
        *(wording.number, wording.duration, wording.iso, wording.clock, wording.anchor),
        *(_age, _elapsed),
    )
    tables = {
        "expected_word": wording.EXPECTED_WORDS.__getitem__,
        "observation_word": wording.OBSERVATION_WORDS.__getitem__,
    }
    return {word.__name__.lstrip("_"): word for word in words} | tables


@pass_context
def _age(template: TemplateContext, at: datetime) -> str:
    return wording.age(at, template["now"])


@pass_context
def _elapsed(template: TemplateContext, run: RunSummary) -> str:
    return wording.elapsed(run, template["now"])


#: One for all pages: compiled templates are kept in it.
PAGES = Pages()
