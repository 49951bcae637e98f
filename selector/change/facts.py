"""What stage 1 knows about a change: one `FileChange` per file and its typed `Fact`s, all of it frozen.

Owns the vocabulary only; reading diffs and source is the business of the modules beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Category(StrEnum):
    """What kind of file a path is. `UNCLASSIFIED` is an honest answer and widens the selection."""

    PYTHON_SOURCE = "python source"
    TEST = "test"
    TEST_HARNESS = "test harness"
    NATIVE = "native"
    CODEGEN = "codegen"
    BUILD = "build"
    DOCS = "docs"
    CI = "ci"
    SUBMODULE = "submodule"
    UNCLASSIFIED = "unclassified"


class Status(StrEnum):
    """What happened to a file. `MODE` is a change of permissions alone."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    MODE = "mode"
    BINARY = "binary"


class FactKind(StrEnum):
    """What a fact is about."""

    COMMENT = "comment"
    DOCSTRING = "docstring"
    FUNCTION = "function"
    CLASS = "class"
    NAME = "name"
    MODULE = "module"
    TEST = "test"
    OP_INFO = "op info"
    SAMPLE_FUNCTION = "sample function"
    MODULE_INFO = "module info"
    OPTIM_INFO = "optim info"
    NATIVE_FUNCTION = "native function"
    DERIVATIVE = "derivative"
    TAG = "tag"
    KERNEL = "kernel"
    REGISTRATION = "registration"
    HEADER = "header"
    INCLUDE = "include"
    GOLDEN_TEXT = "golden text"
    RENAME = "rename"
    PIN = "pin"
    HARNESS = "harness"
    BUILD = "build"
    CODEGEN = "codegen"
    DOCS = "docs"
    CI = "ci"
    SUBMODULE = "submodule"
    BINARY = "binary"
    MODE = "mode"
    UNKNOWN = "unknown"


class Effect(StrEnum):
    """What a fact can do to tests. `NONE` is proven; `UNKNOWN` is not understood and widens the selection."""

    NONE = "none"
    OTHER_BACKEND = "other backend"  # only where another backend than an out-of-tree device runs
    DOCUMENTATION = "documentation"  # only what reads or runs docstrings
    EXPECTATION = "expectation"  # skips and decorators: which tests are expected to pass
    BEHAVIOUR = "behaviour"
    SCHEMA = "schema"
    DTYPES = "dtypes"
    SAMPLES = "samples"
    GRADIENT = "gradient"
    ANNOTATIONS = "annotations"  # TorchScript compiles them, so they are never nothing
    DECORATION = "decoration"
    TEXT = "text"
    MOVED = "moved"
    NEW = "new"  # a function that nothing which stood there before can call
    ABI = "abi"
    DEPENDENCY = "dependency"
    NEW_TEST = "new test"
    EDITED_TEST = "edited test"
    REMOVED_TEST = "removed test"
    EVERYTHING = "everything"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """One thing that a change does.

    `symbol` is the name in the source (`Linear.forward`, `add.Tensor`, a package); `op` the operator it is about, as
    the source at hand calls it (`linalg.norm` in OpInfo, `linalg_norm` in native_functions.yaml), empty when none is
    known. `line` counts from 1 in the new file, in the old one for what is gone, and is 0 when there is none.
    `evidence` is a few words for people; parts of it come from the change and are not to be trusted. `partial`: it may
    be about other operators as well.
    """

    file: str
    kind: FactKind
    symbol: str = ""
    op: str = ""
    effect: Effect = Effect.BEHAVIOUR
    line: int = 0
    evidence: str = ""
    partial: bool = False


@dataclass(frozen=True, slots=True)
class FileDelta:
    """One file of a diff, before anybody looked into it.

    `text` holds the changed lines with their `+` or `-`, capped; `submodule` says that the entry is a commit of
    another repository; `unreadable` is why the entry could not be understood, empty when it was.
    """

    path: str
    old_path: str | None
    status: Status
    text: str = ""
    submodule: bool = False
    unreadable: str = ""


@dataclass(frozen=True, slots=True)
class Reached:
    """A name by which tests may refer to a changed symbol: its own, or that of a caller in the same module.

    `through` is the chain from the changed symbol to `name`, for people: `_unravel_index <- unravel_index`.
    """

    name: str
    through: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed file as stage 1 sees it.

    `symbols` are qualified names inside the file (`Linear.forward`, `unravel_index`, a module-level constant);
    `module_level` says that statements outside every definition changed. `noop` is why the file cannot matter;
    `doubt` is why it could not be judged, which widens the selection. At most one of the two is set.
    """

    path: str
    old_path: str | None
    status: Status
    category: Category
    symbols: tuple[str, ...] = ()
    noop: str | None = None
    module_level: bool = False
    doubt: str | None = None
    reached: tuple[Reached, ...] = ()
    text: str = field(default="", repr=False)
    facts: tuple[Fact, ...] = ()

    @property
    def matters(self) -> bool:
        return self.noop is None

    @property
    def only_documents(self) -> bool:
        """Whether nothing but the text of docstrings changed."""
        effects = {fact.effect for fact in self.facts}
        return Effect.DOCUMENTATION in effects and effects <= {Effect.DOCUMENTATION, Effect.NONE}

    @property
    def paths(self) -> tuple[str, ...]:
        """The path and, after a rename, the one before."""
        return (self.path,) if self.old_path in (None, self.path) else (self.path, str(self.old_path))


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """All changed files, in the order of the diff. `unreadable` is why the diff as a whole cannot be trusted."""

    files: tuple[FileChange, ...]
    unreadable: str = ""

    @property
    def relevant(self) -> tuple[FileChange, ...]:
        return tuple(file for file in self.files if file.matters)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts of all files, in the order of the diff."""
        return tuple(fact for file in self.files for fact in file.facts)
