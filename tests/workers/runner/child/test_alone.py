"""The child side runs in any Python with torch and pytest, and nothing of ours installed."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from relay.contract import Observation
from tests.workers.runner.bench import Bench
from workers.runner.staging import code_folder, stage
from workers.runner.types import Installation

CHILD = code_folder() / "runner/child"
#: What the worker needs beside torch and pytest, and the project itself.
OURS = (
    "oot_relay",
    "_editable",
    "__editable",
    "pydantic",
    "celery",
    "kombu",
    "httpx",
    "stamina",
    "structlog",
    "sqlalchemy",
)
ALLOWED = {"pytest", "torch", "_typeshed", *sys.stdlib_module_names}


def imported(file: Path) -> set[str]:
    """The full names of all modules that a source file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(str(node.module))
    return names


@pytest.mark.parametrize("file", sorted(CHILD.glob("*.py")), ids=lambda file: file.stem)
def test_the_child_side_imports_nothing_else(file: Path) -> None:
    others = {name for name in imported(file) if name.partition(".")[0] not in ALLOWED}
    assert all(name.startswith(("workers.runner.child.", "workers.spyre.")) for name in others), others


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that sees torch, pytest and what these need, and nothing that this project needs for itself."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    for source in Path(sysconfig.get_path("purelib")).iterdir():
        if not source.name.startswith(OURS) and source.suffix != ".pth" and not (site / source.name).exists():
            (site / source.name).symlink_to(source)
    return folder / "bin/python"


def test_another_python_without_this_project_runs_tests_on_the_device(
    torch_bench: Bench, bare_python: Path, device_library: Path
) -> None:
    """Also a program that a test starts has the device, by the entry point that is staged with our code."""
    missing = subprocess.run([bare_python, "-P", "-c", "import workers"], stderr=subprocess.PIPE, check=False)
    assert b"No module named 'workers'" in missing.stderr
    torch_bench.installation = Installation("spyre", device_library, bare_python)
    torch_bench.write("""
        import subprocess, sys, unittest
        import torch
        from torch.testing._internal.common_device_type import instantiate_device_type_tests
        from torch.testing._internal.common_utils import TestCase

        PROGRAM = "import torch; print(torch.ones(2, device='spyre').device)"

        class Sample(TestCase):
            def test_device(self, device):
                self.assertEqual(torch.ones(2, device=device).device.type, "spyre")
            def test_operators(self, device):
                torch.ones(2, device=device).add(1)
            def test_program(self, device):
                done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
                self.assertEqual(done.stdout.strip(), "spyre:0", done.stderr)
            def test_environment(self):
                with self.assertRaises(ImportError):
                    import pydantic

        instantiate_device_type_tests(Sample, globals())
    """)
    collection = torch_bench.collect()
    assert collection.error == ""
    outcomes = torch_bench.run_tests(collection.tests)
    assert {outcome.detail for outcome in outcomes} == {""}
    assert {outcome.observation for outcome in outcomes} == {Observation.PASSED}
    operators = next(outcome.operators for outcome in outcomes if "test_operators" in outcome.id)
    assert "aten::add.Tensor" in operators


#: Another backend's own package, as small as one can be: its library, the name, and the module that torch asks.
PACKAGE = """
import ctypes, types
from pathlib import Path
import torch
ctypes.CDLL(str(Path(__file__).with_name("quartz.so")))
torch.utils.rename_privateuse1_backend("quartz")
module = types.ModuleType("torch.quartz")
module.is_available = lambda: True
module.device_count = torch._C._accelerator_hooks_device_count
module.current_device = torch.accelerator.current_device_index
module._is_in_bad_fork = lambda: False
module.manual_seed_all = lambda seed: None
torch._register_device_module("quartz", module)
torch.utils.generate_methods_for_privateuse1_backend()
"""


@pytest.fixture
def quartz_python(bare_python: Path, device_library: Path) -> Iterator[Path]:
    """The same Python with the package of another device in it."""
    site = Path(sysconfig.get_path("purelib", vars={"base": str(bare_python.parents[1])}))
    package = site / "torch_quartz"
    package.mkdir()
    (package / "__init__.py").write_text(PACKAGE)
    shutil.copy(device_library, package / "quartz.so")
    yield bare_python
    shutil.rmtree(package)


def test_any_device_is_tested_whose_package_is_installed(torch_bench: Bench, quartz_python: Path) -> None:
    """Nothing of the emulator's own is told to it. A package that registers another name than said is refused."""
    torch_bench.installation = Installation("quartz", None, quartz_python, "", "torch_quartz")
    torch_bench.write("""
        import torch
        from torch.testing._internal.common_device_type import instantiate_device_type_tests
        from torch.testing._internal.common_utils import TestCase

        class Sample(TestCase):
            def test_device(self, device):
                self.assertEqual((torch.ones(2, device=device) + 1).cpu().tolist(), [2.0, 2.0])
                self.assertEqual(torch.ones(2, device=device).device.type, "quartz")

        instantiate_device_type_tests(Sample, globals())
    """)
    collection = torch_bench.collect()
    assert collection.error == ""
    (outcome,) = torch_bench.run_tests(collection.tests)
    assert (outcome.observation, outcome.detail) == (Observation.PASSED, "")
    assert "QUARTZ::test_device_quartz" in outcome.id
    torch_bench.close()
    torch_bench.installation = Installation("basalt", None, quartz_python, "", "torch_quartz")
    said = "the package torch_quartz registers the device quartz, and the backend describes basalt"
    assert said in torch_bench.collect().error


def test_staged_code_holds_the_package_and_describes_the_device(tmp_path: Path) -> None:
    staged = stage(tmp_path / "code")
    assert (staged / "workers/runner/child/warm.py").is_file()
    program = "from importlib.metadata import entry_points; print(entry_points(group='torch.backends', name='spyre'))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(staged)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "workers.spyre:autoload" in done.stdout
