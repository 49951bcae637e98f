"""Where the framework's reading of a manifest surprises people: all traps that one test is in, in the order in which
they are told.

The traps are those of `oot-manifests.md` section 2; their sentences are held by tests word for word. Nothing here
decides about a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from selector.manifests.decision import NOT_GOVERNED
from selector.manifests.explaining import name_traps, value_traps
from selector.manifests.explaining.trap_case import Case, Trap
from selector.manifests.models import is_model_file

_LOOKS: tuple[Callable[[Case], Iterator[Trap]], ...] = (
    name_traps.class_ignored,
    name_traps.hidden,
    name_traps.generated_name,
    name_traps.glob_pattern,
    value_traps.dtype_from_name,
    value_traps.float8,
    value_traps.dotted_operator,
    value_traps.excluded_by_prefix,
    value_traps.allow_list,
    name_traps.label_mismatch,
    name_traps.unlisted,
    value_traps.force_xfail,
)


def traps(case: Case) -> tuple[Trap, ...]:
    """All traps of a case; of a function about which nothing is asked, that is the only one."""
    if case.compat.resolution.rule == NOT_GOVERNED:
        return tuple(name_traps.function_not_governed(case))
    if is_model_file(case.test.file):  # which the framework does not read at all
        return ()
    return tuple(trap for look in _LOOKS for trap in look(case))
