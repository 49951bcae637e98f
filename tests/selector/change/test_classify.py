"""Paths fall into categories, and unknown ones stay unclassified."""

from __future__ import annotations

import pytest

from selector.change.classify import HARMLESS, classify, is_test_file
from selector.change.facts import Category


@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("torch/functional.py", Category.PYTHON_SOURCE),
        ("functorch/_src/vmap.py", Category.PYTHON_SOURCE),
        ("torch/types.pyi", Category.PYTHON_SOURCE),
        ("test/test_torch.py", Category.TEST),
        ("functorch/test/test_vmap.py", Category.TEST),
        ("test/expect/TestScript.test_if.expect", Category.TEST),
        ("torch/testing/_internal/common_utils.py", Category.TEST_HARNESS),
        ("test/conftest.py", Category.TEST_HARNESS),
        ("test/run_test.py", Category.TEST_HARNESS),
        ("pytest.ini", Category.TEST_HARNESS),
        ("aten/src/ATen/native/Linear.cpp", Category.NATIVE),
        ("c10/core/Scalar.h", Category.NATIVE),
        ("torch/csrc/Module.cpp", Category.NATIVE),
        ("test/cpp_extensions/extension.cpp", Category.NATIVE),
        ("aten/src/ATen/native/native_functions.yaml", Category.CODEGEN),
        ("tools/autograd/derivatives.yaml", Category.CODEGEN),
        ("torchgen/gen.py", Category.CODEGEN),
        ("torch/_C/__init__.pyi.in", Category.CODEGEN),
        ("setup.py", Category.BUILD),
        ("requirements.txt", Category.BUILD),
        ("caffe2/CMakeLists.txt", Category.BUILD),
        ("cmake/Dependencies.cmake", Category.BUILD),
        ("docs/source/nn.rst", Category.DOCS),
        ("torch/distributed/README.md", Category.DOCS),
        (".github/workflows/pull.yml", Category.CI),
        (".ci/docker/build.sh", Category.CI),
        (".lintrunner.toml", Category.CI),
        ("torch/_inductor/kernel/flex.jinja", Category.UNCLASSIFIED),
        ("something/new.py", Category.UNCLASSIFIED),
        ("Torch/functional.py", Category.UNCLASSIFIED),
        ("evil/.github/x.py", Category.UNCLASSIFIED),
        ("", Category.UNCLASSIFIED),
    ],
)
def test_a_path_has_its_category(path: str, category: Category) -> None:
    assert classify(path) is category


def test_only_documentation_and_ci_settings_are_harmless() -> None:
    assert HARMLESS.keys() == {Category.DOCS, Category.CI}


def test_test_files_are_those_upstream_discovers() -> None:
    for path in ("test/test_nn.py", "test/inductor/test_cpu.py", "functorch/test/test_vmap.py"):
        assert is_test_file(path)
    for path in ("test/nn/common.py", "torch/test/test_x.py", "test/test_data/x.txt", "test/my_test.py"):
        assert not is_test_file(path)
