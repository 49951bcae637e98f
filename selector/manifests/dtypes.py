"""The dtype words of a manifest and how a dtype or an operator is read out of a generated method name.

Reading names is the fallback for tests whose generator told nothing. It is as short-sighted as the framework whose
manifests we accept (`oot-manifests.md` 2.5), on purpose: the same manifest must mean the same there and here.
"""

from __future__ import annotations

from typing import Literal, get_args

DtypeName = Literal[
    "float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "uint32", "uint64", "complex32", "complex64", "complex128", "bool", "half",
]  # fmt: skip  # a vocabulary, not a structure

_LONGEST_FIRST: tuple[str, ...] = tuple(sorted(get_args(DtypeName), key=len, reverse=True))


def dtype_in_name(method: str) -> str | None:
    """The dtype word in a generated method name; the longest word wins, between equals the vocabulary's order."""
    for name in _LONGEST_FIRST:
        if f"_{name}_" in method or method.endswith(f"_{name}"):
            return name
    return None


def op_in_name(method: str, base: str, device: str) -> str | None:
    """The flattened operator name: what stands between the base name and the device, when something follows that."""
    rest = method.removeprefix(f"{base}_")
    if rest == method:
        return None
    end = rest.find(f"_{device}_")
    return rest[:end] if end > 0 else None


def dtypes_in_word(word: str) -> tuple[str, ...]:
    """The dtypes of a told word. Generators join several with `_` (`float16_float64`); an unknown word stays whole."""
    for name in _LONGEST_FIRST:
        if word.startswith(f"{name}_") and (rest := word.removeprefix(f"{name}_")).startswith(_LONGEST_FIRST):
            return (name, *dtypes_in_word(rest))
    return (word,)
