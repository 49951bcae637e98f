"""Small upstream repositories for end-to-end tests: a base commit, a head commit, real device-generic test files."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from relay.demo.repository import UpstreamChange

#: A change of real PyTorch source that breaks nothing: both are a tuple of tensors.
FILE = "torch/functional.py"
HARMLESS = ("return res_tensor.unbind(-1)", "return tuple(res_tensor.unbind(-1))")
#: One that forgets where its argument lies, which shows on every device but the CPU.
BREAKING = ("torch.tensor(coefs, device=indices.device, dtype=torch.int64)", "torch.tensor(coefs, dtype=torch.int64)")

SLOW_TESTS = """\
# Owner(s): ["module: tests"]
import time

import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, parametrize, run_tests


class TestSlow(TestCase):
    @parametrize("number", range({count}))
    def test_unravel_index(self, device, number):
        time.sleep({seconds})
        (only,) = torch.unravel_index(torch.tensor([number], device=device), (100,))
        self.assertEqual(only.item(), number)


instantiate_device_type_tests(TestSlow, globals())
if __name__ == "__main__":
    run_tests()
"""

MIXED_TESTS = """\
# Owner(s): ["module: tests"]
import torch
from torch.functional import atleast_2d
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, run_tests


class TestMixed(TestCase):
    def test_unravel_index_of_a_row(self, device):
        rows, columns = torch.unravel_index(torch.tensor([3], device=device), (2, 2))
        self.assertEqual((rows.item(), columns.item()), (1, 1))

    def test_atleast_2d(self, device):
        self.assertEqual(atleast_2d(torch.zeros(3, device=device)).shape, (1, 3))

    def test_zeros_are_zero(self, device):
        self.assertEqual(torch.zeros(2, device=device).sum().item(), 0.0)


instantiate_device_type_tests(TestMixed, globals())
if __name__ == "__main__":
    run_tests()
"""

MANIFEST = """\
test_suite_config:
  labels: [unit]
  files:
    - path: ${{TORCH_ROOT}}/{path}
      unlisted_test_mode: mandatory_success
"""


def make_upstream(
    folder: Path, tests: Mapping[str, str], *, title: str = "Return a tuple", edit: tuple[str, str] = HARMLESS
) -> UpstreamChange:
    """A repository whose head changes one line of the installed wheel's `torch/functional.py`."""
    return change_wheel(folder, tests, FILE, title=title, edit=edit)


def change_wheel(
    folder: Path, tests: Mapping[str, str], file: str, *, title: str, edit: tuple[str, str]
) -> UpstreamChange:
    """A repository whose head changes one file of the installed wheel's."""
    spec = find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    source = (Path(spec.origin).parents[1] / file).read_text()
    assert edit[0] in source
    folder.mkdir(parents=True)
    _git(folder, "init", "-q", "-b", "main")
    base = _commit(folder, {**tests, file: source}, "base")
    head = _commit(folder, {file: source.replace(*edit)}, title)
    return UpstreamChange(folder, base, head, title, "")


def write_manifests(folder: Path, paths: list[str]) -> Path:
    """A manifest folder that expects every test of these files to pass."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in paths:
        (folder / f"{Path(path).stem}.yaml").write_text(MANIFEST.format(path=path))
    return folder


def _commit(folder: Path, files: Mapping[str, str], message: str) -> str:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    _git(folder, "add", "-A")
    _git(folder, "-c", "user.name=t", "-c", "user.email=t@invalid", "commit", "-q", "-m", message)
    return _git(folder, "rev-parse", "HEAD").strip()


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
