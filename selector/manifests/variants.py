"""What a collected test is a variant of: its operator and its dtypes, as a profile sees them, and how these compare.

The compat profile reads names and so inherits every trap of names (`oot-manifests.md` 2.5). The strict profile takes
what the generator told; what it did not tell is not guessed.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass

from selector.manifests.dtypes import dtype_in_name, dtypes_in_word, op_in_name
from selector.manifests.profiles import Profile
from selector.types import CollectedTest

#: The manifest's other word for a dtype that torch names differently.
_ALIASES = {"float16": "half"}


@dataclass(frozen=True, slots=True)
class Variant:
    """Operator and dtypes of a generated test. `told` says that both come from the generator, not from the name."""

    op: str | None
    dtypes: tuple[str, ...]
    told: bool

    @property
    def dtype(self) -> str:
        """The dtypes as one word, `-` without any."""
        return ", ".join(self.dtypes) or "-"

    def has_op(self, names: Container[str]) -> bool:
        """Exactly this operator, its variant included, is among the names."""
        return self.op is not None and self.op in names

    def is_excluded_by(self, name: str) -> bool:
        """Exclusion takes variants with it: `add` excludes `add` and `add_decomposed`.

        A name read from a method is flat, so a dotted name never equals it; a told one is compared flat with flat.
        """
        if self.op is None:
            return False
        op, name = (_flat(self.op), _flat(name)) if self.told else (self.op, name)
        return op == name or op.startswith(f"{name}_")

    def has_one_of(self, names: Collection[str]) -> bool:
        """Whether one of its dtypes is among the names."""
        return any(self._among(dtype, names) for dtype in self.dtypes)

    def outside(self, *allowed: Collection[str]) -> bool:
        """Whether one of its dtypes is in none of the sets."""
        return any(not any(self._among(dtype, names) for names in allowed) for dtype in self.dtypes)

    def _among(self, dtype: str, names: Collection[str]) -> bool:
        return dtype in names or (self.told and _ALIASES.get(dtype) in names)


def variant_of(test: CollectedTest, profile: Profile, device: str) -> Variant:
    """The variant as the profile sees it. `device` is the word in generated names."""
    if profile is Profile.STRICT:
        return Variant(test.op, dtypes_in_word(test.dtype) if test.dtype else (), told=True)
    dtype = dtype_in_name(test.method)
    return Variant(op_in_name(test.method, test.base, device), (dtype,) if dtype else (), told=False)


def listed_op(op: str | None, names: Container[str]) -> str | None:
    """The listed name that stands for an operator: its own, or the one without the variant, which the list ignores."""
    if op is None or op in names:
        return op
    plain = op.rpartition(".")[0]
    return plain if plain in names else None


def _flat(name: str) -> str:
    return name.replace(".", "_")
