"""Names that older test files import and the installed torch has dropped, so that the files can be measured.

They are appended to the modules in a copy of the wheel that both devices get, and only where the name is gone. They do
nothing: a test that depends on one fails on the CPU as well, and says nothing about the device.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from workers.upstream.overlay import Replacement, build_overlay, installed_wheel

_INTERNAL = PurePosixPath("torch/testing/_internal")
#: Module -> name -> the expression that stands in for it.
STAND_INS: dict[PurePosixPath, dict[str, str]] = {
    _INTERNAL / "common_cuda.py": {"tf32_is_not_fp32": "lambda: False"},
    _INTERNAL / "common_mkldnn.py": {"bf32_on_and_off": "lambda *_, **__: lambda test: test"},
    _INTERNAL / "common_methods_invocations.py": {
        "binary_ufuncs_and_refs": "binary_ufuncs + [o for o in python_ref_db if type(o).__name__.startswith('Binary')]"
    },
}


def with_stand_ins(wheel: Path, destination: Path) -> tuple[Path | None, list[str]]:
    """The folder to put first on the import path, made in `destination`, and the names that were added; None when the
    wheel lacks none of them."""
    found = {path: _missing(wheel / path, names) for path, names in STAND_INS.items()}
    replacements = [
        Replacement(path, (wheel / path).read_bytes() + _lines(names)) for path, names in found.items() if names
    ]
    return build_overlay(replacements, wheel, destination), sorted(name for names in found.values() for name in names)


def installed_with_stand_ins(destination: Path) -> tuple[Path | None, list[str]]:
    """`with_stand_ins` of the torch installed here."""
    return with_stand_ins(installed_wheel(), destination)


def _missing(module: Path, names: dict[str, str]) -> dict[str, str]:
    if not module.is_file():
        return {}
    text = module.read_text(encoding="utf-8")
    return {name: expression for name, expression in names.items() if name not in text}


def _lines(names: dict[str, str]) -> bytes:
    return "".join(f"\n{name} = {expression}\n" for name, expression in names.items()).encode()
