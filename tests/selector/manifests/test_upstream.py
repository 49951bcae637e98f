"""Which file of the upstream tree a block is about."""

from __future__ import annotations

import pytest

from selector.manifests.upstream import upstream_file


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("${TORCH_ROOT}/test/test_a.py", "test/test_a.py"),
        ("${TORCH_ROOT}//test/./nn/../test_a.py", "test/test_a.py"),
        ("${TORCH_DEVICE_ROOT}/tests/test_a.py", None),
        ("${TORCH_ROOT}", None),
        ("${TORCH_ROOT}/..", None),
        ("${TORCH_ROOT}/test/../../x/test_a.py", None),
        ("${TORCH_ROOT}x/test/test_a.py", None),
        ("/abs/test/test_a.py", None),
        ("test/test_a.py", None),
    ],
)
def test_only_paths_under_the_upstream_root_are_upstream_files(path: str, file: str | None) -> None:
    assert upstream_file(path) == file
