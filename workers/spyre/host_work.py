"""Work of the test harness that must not count as the device's: printing a tensor and comparing tensors.

A device with few operators could not print a tensor (that selects and compares) nor compare two; every test would fail
for the harness's needs and hide what it was about. While `host_work` is open in a thread, no rule of the profile
applies there and nothing is reported. Test files are not touched: the two places in torch through which all printing
and all comparing goes are wrapped.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from workers.spyre.profile import Profile


@contextmanager
def host_work() -> Iterator[None]:
    """Open a stretch of harness work in this thread; may be nested."""
    torch.ops.spyre.change_host_work(1)
    try:
        yield
    finally:
        torch.ops.spyre.change_host_work(-1)


def on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that all it does is harness work."""

    @functools.wraps(function)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        with host_work():
            return function(*arguments, **options)

    return wrapped


def use_profile(profile: Profile) -> None:
    """Give the loaded device its profile. Must come before the first operator; raises ValueError for a bad setting."""
    torch.ops.spyre.use_profile(profile.settings())
    if profile.prints_on_host():
        torch._tensor_str._str = on_host(torch._tensor_str._str)
    if profile.compares_on_host():
        pair = torch.testing._comparison.TensorLikePair  # assert_close and TestCase.assertEqual both build pairs
        for step in ("__init__", "compare"):
            setattr(pair, step, on_host(getattr(pair, step)))
