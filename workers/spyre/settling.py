"""Lets torch's gradient threads come to rest before the interpreter ends.

torch runs backward passes on one thread per device. Such a thread drops what belongs to the last pass, among it a
Python object, a moment *after* the caller got its gradients; when the interpreter ends in that moment, the thread asks
for a lock that no longer exists and the whole process aborts, although the program had finished.
"""

from __future__ import annotations

import atexit
from pathlib import Path

from workers.spyre.naming import device_name

_THREADS = Path("/proc/self/task")
_GRADIENT_THREAD = "pt_autograd_"  # torch names the threads; in a forked child they are gone


def settle_at_exit() -> None:
    """Arrange for `settle` to run when the interpreter ends."""
    atexit.register(settle)


def settle() -> None:
    """Send an empty pass that holds no Python object through each gradient thread; it passes only what is dropped."""
    if not _has_gradient_threads():
        return
    import torch  # noqa: PLC0415 - the module must be importable without torch

    for index in range(torch.accelerator.device_count()):
        leaf = torch.empty(0, device=f"{device_name()}:{index}", requires_grad=True)
        gradient = torch.empty(0, device=leaf.device)
        torch.autograd.Variable._execution_engine.run_backward((leaf,), (gradient,), False, False, (), True, True)


def _has_gradient_threads() -> bool:
    try:
        names = [(thread / "comm").read_text() for thread in _THREADS.iterdir()]
    except OSError:  # a thread ended while we looked: something is still under way
        return _THREADS.exists()
    return any(name.startswith(_GRADIENT_THREAD) for name in names)
