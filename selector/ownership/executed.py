"""The rule for what ran: tests that executed a changed function when they were last recorded, then their whole files.

Only adds. The closure over files is needed: code that ran while a file was collected, or whose result another test left
in a cache, breaks tests that never execute it. Few tests that executed a function are must-run; many are kept by score.
"""

from __future__ import annotations

from collections.abc import Iterator

from selector.catalog import Catalog, CatalogTest
from selector.change import ChangeSet, FileChange
from selector.known import ExecutedFunctions, FunctionId
from selector.ownership.links import Link, link, too_common

RULE = "executed function"
_MODULE = "<module>"
_EXECUTED, _COMMON, _CLOSURE = 0.95, 0.8, 0.7


def executed_links(change: ChangeSet, catalog: Catalog, executed: ExecutedFunctions) -> Iterator[Link]:
    """Tests of recorded files that executed changed code. Asks once for the whole change."""
    files = [file for file in change.relevant if file.path.endswith(".py") and not file.only_documents]
    asked = sorted({function for file in files for function in _asked(file)})
    if not asked:
        return
    answer = executed.executing(asked)
    by_name = {str(test.test): test for test in catalog}
    for function in asked:
        yield from _links(function, set(answer.get(function, ())), catalog, by_name)


def _asked(file: FileChange) -> Iterator[FunctionId]:
    """The changed symbols; the module where its own statements changed, or where symbols cannot be told."""
    whole = file.module_level or file.doubt is not None or not file.symbols
    names = {*file.symbols, *([_MODULE] if whole else [])}
    yield from (FunctionId(path, name) for path in file.paths for name in sorted(names))


def _links(function: FunctionId, told: set[str], catalog: Catalog, by_name: dict[str, CatalogTest]) -> Iterator[Link]:
    direct = sorted(told & by_name.keys())
    common = too_common(len(direct), catalog)
    named = f"{function.path}: {function.name}"
    for name in direct:
        score = _COMMON if common else _EXECUTED
        yield link(by_name[name], RULE, f"executed {named} when last recorded", score, must_run=not common)
    for path in sorted({name.partition("::")[0] for name in told} & catalog.files.keys()):
        evidence = f"{path} executed {named} in its collection or in a test when last recorded"
        yield from (link(test, RULE, evidence, _CLOSURE) for test in catalog.files[path].tests)
