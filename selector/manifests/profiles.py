"""The two ways to read a manifest (`oot-manifests.md` 7.3). Owns the names and nothing else."""

from __future__ import annotations

from enum import StrEnum


class Profile(StrEnum):
    """`COMPAT` means what the framework makes of a manifest, `STRICT` what its author must have meant.

    `COMPAT` ignores class names, reads operator and dtype out of method names, and leaves module-level functions
    alone. `STRICT` compares class names, believes the operator and dtype that the generator told and nothing else,
    judges every collected test, and its loader refuses unknown keys.
    """

    COMPAT = "compat"
    STRICT = "strict"
