"""Rules about precisions and about the inputs a manifest writes down: what is read otherwise than it looks."""

from __future__ import annotations

from collections.abc import Iterator

from selector.manifests.document import Path
from selector.manifests.findings import Finding, shown
from selector.manifests.inputs import Argument, TensorSpec
from selector.manifests.lint.checked import Checked


def in_inputs(checked: Checked) -> Iterator[Finding]:
    """Every finding of these rules in one manifest; the unused `device` of tensors is one finding a manifest."""
    for path, value in checked.precisions():
        if isinstance(value, str):
            message = (
                f"`{path[-1]}`: {shown(value)} is text to YAML 1.1, which wants a dot in it; write `{dotted(value)}`"
            )
            yield checked.report("precision-string", path, message)
    devices: list[Path] = []
    for path, model in checked.models():
        if isinstance(model, Argument):
            yield from _argument(checked, path, model)
        elif isinstance(model, TensorSpec) and "device" in model.model_fields_set:
            devices.append((*path, "device"))
    if devices:
        times = f" ({len(devices)} times in this manifest)" if len(devices) > 1 else ""
        message = f"`device` of a tensor is not used{times}: tensors are built on the host and moved to the device"
        yield checked.report("inert-key", devices[0], message)


def dotted(number: str) -> str:
    """A number that is text to YAML 1.1, written so that it is a number: `1e-3` as `0.001`, `1e-9` as `1.0e-09`."""
    text = repr(float(number))
    return text if "." in text else text.replace("e", ".0e")


def _argument(checked: Checked, path: Path, argument: Argument) -> Iterator[Finding]:
    kinds = argument.kinds
    if len(kinds) > 1:
        message = f"an argument of two kinds, {' and '.join(f'`{kind}`' for kind in kinds)}: `{kinds[0]}` counts"
        yield checked.report("two-kinds", (*path, kinds[1]), message)
