"""Schema of a manifest in torch-spyre's form (`oot-manifests.md` 1.2 to 1.8), as pydantic models.

As lax as the original where the original is lax: strings become numbers and booleans, a bare string is accepted for
`names` and for an operator. Unknown keys are not this module's matter (`check.py`), nor is what a manifest means.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from selector.manifests.dtypes import DtypeName
from selector.manifests.extensions import (
    Expiry,
    IssueRef,
    PlatformNames,
    Remark,
    SchemaVersion,
    TimeoutSeconds,
)
from selector.manifests.inputs import SampleInputs, Section, SeveralInputs
from selector.manifests.model_schema import ModelSpec
from selector.manifests.precision import DtypeItem, DtypeRef, Precision
from selector.types import Mode

MAX_NAME_CHARACTERS = 500
PATTERN_CHARACTERS = frozenset("\\.^$*+?{}[]|()")


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _as_named(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def method_part(name: str) -> str:
    """The method of `Class::method` or `method`; the class part is not used for matching (`oot-manifests.md` 2.2)."""
    return name.rpartition("::")[2]


def class_part(name: str) -> str:
    """The class of `Class::method`, empty without one; only the strict profile looks at it."""
    return name.rpartition("::")[0]


def is_pattern(method: str) -> bool:
    """Whether the method part of a name is a regular expression."""
    return not PATTERN_CHARACTERS.isdisjoint(method)


def _check_name(name: str) -> str:
    parts = name.split("::")
    if len(parts) > 2 or not all(parts):
        raise ValueError("a name is `method` or `Class::method`, without a file and with no empty part")
    if len(name) > MAX_NAME_CHARACTERS:
        raise ValueError(f"a name of more than {MAX_NAME_CHARACTERS} characters")
    if is_pattern(parts[-1]):
        _check_pattern(parts[-1])
    return name


def _check_pattern(pattern: str) -> None:
    # FutureWarning: an ambiguous character set, an exception where warnings are errors.
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError, FutureWarning) as error:
        hint = "; patterns are regular expressions, not globs: write `.*` for any text" if "*" in pattern else ""
        raise ValueError(f"not a valid pattern ({error}){hint}") from error


TestName = Annotated[str, AfterValidator(_check_name)]
Texts = tuple[str, ...]


class Described(Section):
    """Something named, with a remark for people."""

    name: str
    description: Any = None


class DtypeEdits(Section):
    """Dtypes an entry adds to, or takes from, the variants of its tests."""

    include: tuple[DtypeItem, ...] = ()
    exclude: tuple[DtypeRef, ...] = ()


class OpInclude(Described):
    """An operator of the model-operator test; without effect on upstream tests (`oot-manifests.md` 1.6)."""

    tags: Texts = ()
    sample_inputs_func: SampleInputs | None = None


class OpEdits(Section):
    """Operators an entry takes from the variants of its tests."""

    include: tuple[OpInclude, ...] = ()
    exclude: tuple[Described, ...] = ()


class ModuleInclude(Described):
    """A module to register for module tests."""

    module_path: str | None = None
    apply_device_layout: bool = False
    sample_inputs_func: SampleInputs | None = None
    constructor_inputs: SampleInputs | None = None
    forward_inputs: SeveralInputs | None = None


class ModuleEdits(Section):
    """Modules an entry adds or takes away."""

    include: tuple[ModuleInclude, ...] = ()
    exclude: tuple[Described, ...] = ()


class FunctionEdits(Section):
    """Methods of the test class whose tensor arguments are moved to the CPU first."""

    cpu_move: tuple[Described, ...] = ()


class Edits(Section):
    """Changes to the variants of an entry's tests."""

    ops: OpEdits = OpEdits()
    dtypes: DtypeEdits = DtypeEdits()
    modules: ModuleEdits = ModuleEdits()
    functions: FunctionEdits = FunctionEdits()


class Entry(Section):
    """Tests with one expectation. The keys after `edits` are ours; the framework ignores them (`extensions.py`)."""

    names: Annotated[tuple[TestName, ...], BeforeValidator(_as_list)]
    mode: Mode = Mode.MANDATORY_SUCCESS
    tags: Texts = ()
    labels: Texts = ()
    no_grad: bool = False
    edits: Edits = Edits()
    reason: Remark | None = None
    issue: IssueRef | None = None
    owner: Remark | None = None
    expires: Expiry | None = None
    platforms: PlatformNames = ()
    isolate: bool = False
    timeout_s: TimeoutSeconds | None = None


class FileBlock(Section):
    """One test file: what is listed, and what holds for the rest. The default is the code's, not the RFC's."""

    path: str
    unlisted_test_mode: Mode = Mode.XFAIL
    tests: tuple[Entry, ...] = ()
    labels: Texts = ()


class OpDtype(Section):
    """A dtype of an operator."""

    name: DtypeName
    precision: Precision | None = None


class SupportedOp(Section):
    """An operator the device has, with the dtypes it has it for (none given: all)."""

    name: str
    force_xfail: bool = False
    dtypes: tuple[OpDtype, ...] = ()


class SupportedModule(Section):
    """A module the device has."""

    name: str
    force_xfail: bool = False
    dtypes: tuple[OpDtype, ...] = ()
    constructor_inputs: SampleInputs | None = None
    forward_inputs: SeveralInputs | None = None


class InputConfig(Section):
    """Seed of tensors that a manifest describes."""

    seed: int | None = None


class GlobalConfig(Section):
    """What holds for every file of the manifest."""

    supported_dtypes: tuple[DtypeItem, ...] = ()
    supported_ops: tuple[Annotated[SupportedOp, BeforeValidator(_as_named)], ...] | None = None
    supported_modules: tuple[Annotated[SupportedModule, BeforeValidator(_as_named)], ...] | None = None
    input_config: InputConfig = InputConfig()


class SuiteConfig(Section):
    """The manifest proper. `models` is ours; the framework ignores it."""

    files: tuple[FileBlock, ...]
    global_: GlobalConfig = Field(default=GlobalConfig(), alias="global")
    labels: Texts = ()
    models: tuple[ModelSpec, ...] = ()


class Manifest(Section):
    """The root. Other top-level keys are ignored without a warning when they start with `x-`."""

    test_suite_config: SuiteConfig
    schema_version: SchemaVersion = 1
