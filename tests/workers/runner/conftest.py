"""Benches for the runner.

Most children here import an empty `torch` that is laid over the real one by `RunnerTree.torch_path`: they start in a
fraction of the time, and what is tested is the runner. Tests that need PyTorch's own machinery take the real one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workers.runner.bench import Bench
from workers.spyre.build import ensure_library


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A bench whose children import an empty torch."""
    package = tmp_path / "overlay" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    bench = Bench(tmp_path, package.parent)
    yield bench
    bench.close()


@pytest.fixture
def torch_bench(tmp_path: Path) -> Iterator[Bench]:
    """A bench with the installed torch, beside a `torch` source folder that must never be imported."""
    bench = Bench(tmp_path, None)
    bench.write("raise RuntimeError('this is the source folder')", "torch/__init__.py")
    yield bench
    bench.close()


@pytest.fixture(scope="session")
def device_library(pytestconfig: pytest.Config) -> Path:
    """The built device, kept between test runs: compiling it takes ten seconds."""
    cache = pytestconfig.cache
    assert cache is not None
    return ensure_library(cache.mkdir("spyre"))
