"""Schema of a dtype where a manifest names one, with the tolerances that go with it (`oot-manifests.md` 1.7)."""

from __future__ import annotations

from typing import Any

from selector.manifests.dtypes import DtypeName
from selector.manifests.inputs import Section


class Precision(Section):
    """Tolerances of a comparison."""

    atol: float | None = None
    rtol: float | None = None


class DtypeRef(Section):
    """A dtype of the vocabulary."""

    name: DtypeName
    description: Any = None


class DtypeItem(DtypeRef):
    """A supported or added dtype."""

    precision: Precision | None = None
    force_xfail: bool = False
