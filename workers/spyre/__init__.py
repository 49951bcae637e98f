"""The emulated device `spyre`: host memory presented to PyTorch as an out-of-tree accelerator.

Owns the device library (`native/`, built by `workers.spyre.build`), its loading and the module `torch.spyre`. It knows
nothing of tests, runs or the relay. `import torch` calls `autoload` through the entry point group `torch.backends`, in
every process of this environment; so importing this package imports nothing.
"""

from __future__ import annotations


def autoload() -> None:
    """Give torch the device, or say in one line on standard error why there is none; `import torch` goes on.

    The library is the one that `SPYRE_LIBRARY` names, else the one for this torch in the default cache. An empty
    `SPYRE_LIBRARY` means: no device, and no line about it. torch's own switch is `TORCH_DEVICE_BACKEND_AUTOLOAD=0`.
    """
    import os  # noqa: PLC0415 - the package imports nothing, see above

    if os.environ.get("SPYRE_LIBRARY") == "":
        return
    from workers.spyre.load import load_or_explain  # noqa: PLC0415 - the same

    load_or_explain()
