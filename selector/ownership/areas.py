"""Areas of PyTorch as its `# Owner(s):` labels and its folders name them.

A label says who is asked, not what is covered, so an area is weak evidence. Labels that name no area are left out.
"""

from __future__ import annotations

from pathlib import PurePosixPath

#: Labels whose words are not a folder or module name, with the names they stand for.
_NAMES = {
    "optimizer": ("optim",),
    "linear algebra": ("linalg",),
    "decompositions": ("decomp",),
    "primtorch": ("refs", "prims", "prims_common"),
    "meta tensors": ("meta_registrations", "subclasses"),
    "__torch_function__": ("overrides",),
    "__torch_dispatch__": ("subclasses",),
    "proxytensor": ("proxy_tensor",),
    "aotdispatch": ("functorch", "aot_autograd"),
    "nestedtensor": ("nested",),
    "masked operators": ("masked",),
    "dataloader": ("data",),
    "cpp-extensions": ("cpp_extension",),
    "serialization": ("serialization", "weights_only_unpickler"),
    "type promotion": ("refs", "prims_common"),
    "quantization": ("quantization", "ao"),
    "custom operators": ("library", "custom_op", "custom_ops"),
    "nn": ("nn",),
    "multiprocessing": ("multiprocessing",),
    "profiler": ("profiler", "autograd"),
    "export": ("export",),
    "pt2": ("dynamo", "inductor", "export"),
}
_NO_AREA = frozenset({"unknown", "tests", "ci", "docs", "build", "cuda", "rocm", "mps", "xpu", "intel"})


def area_names(label: str) -> tuple[str, ...]:
    """Folder and module names of a label: `("nn",)` for `module: nn`, none for `module: unknown`."""
    area = label.partition(":")[2].strip().lower()
    if not area or area in _NO_AREA:
        return ()
    return _NAMES.get(area, (area.replace(" ", "_"),))


def path_names(path: str) -> tuple[str, ...]:
    """The names in a source path below its root package, without leading underscores: `("inductor", "codegen", "cpp")`
    for `torch/_inductor/codegen/cpp.py`."""
    parts = PurePosixPath(path).with_suffix("").parts[1:]
    return tuple(part.strip("_") for part in parts if part != "__init__")
