"""The manifests of this repository load without a remark and say what their comments promise."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from relay.manifests import manifest_files
from selector.manifests import ManifestDocument, ManifestSet, load_manifests, plan
from selector.types import CollectedTest

FOLDER = Path(__file__).parents[3] / "test_manifests"
DEMO = {f"test/test_demo_{name}.py" for name in ("indexing", "shape", "ops", "autograd")}
UPSTREAM = {
    f"test/{name}.py"
    for name in (
        "nn/test_dropout",
        "nn/test_embedding",
        "nn/test_multihead_attention",
        "nn/test_pooling",
        "test_autograd",
        "test_complex",
        "test_content_store",
        "test_dlpack",
        "test_indexing",
        "test_legacy_vmap",
        "test_masked",
        "test_native_mha",
        "test_numpy_interop",
        "test_optim",
        "test_prims",
        "test_reductions",
        "test_scatter_gather_ops",
        "test_segment_reductions",
        "test_serialization",
        "test_shape_ops",
        "test_sort_and_select",
        "test_spectral_ops",
        "test_tensor_creation_ops",
        "test_type_promotion",
        "test_view_ops",
    )
}


@pytest.fixture(scope="module")
def shipped() -> ManifestSet:
    """The default set: `test_manifests/` without the sets of other profiles."""
    files = manifest_files(FOLDER)
    return load_manifests(
        [ManifestDocument(file.relative_to(FOLDER).as_posix(), file.read_text(encoding="utf-8")) for file in files]
    )


def test_they_load_without_findings(shipped: ManifestSet) -> None:
    assert shipped.findings == ()


def test_they_list_the_demo_tree_and_upstream_files_that_were_measured(shipped: ManifestSet) -> None:
    assert shipped.files() == DEMO | UPSTREAM


@pytest.mark.parametrize(
    ("file", "base", "suffix", "mode"),
    [
        ("test_demo_indexing", "test_unravel_index_builds_sparse", "_spyre", "xfail"),
        ("test_demo_indexing", "test_unravel_index_roundtrip", "_shape0_spyre_int64", "mandatory_success"),
        ("test_view_ops", "test_ravel", "_spyre", "xfail"),
        ("test_view_ops", "test_view_copy", "_spyre_float32", "mandatory_success"),
        ("test_shape_ops", "test_flip", "_spyre_float32", "xfail"),
        ("test_shape_ops", "test_flip", "_spyre_float64", "mandatory_success"),
        ("test_shape_ops", "test_flip_errors", "_spyre_float32", "mandatory_success"),
        ("test_type_promotion", "test_sparse_div_promotion", "_spyre_bool", "xfail"),
        ("test_indexing", "test_index_put_accumulate_large_tensor", "_spyre", "mandatory_success"),
        ("test_optim", "test_tensor_lr", "_SparseAdam_spyre_float32", "skip"),
        ("test_optim", "test_tensor_lr", "_Adam_spyre_float32", "mandatory_success"),
        ("nn/test_embedding", "test_embedding_dense_grad", "_spyre", "mandatory_success"),
    ],
)
def test_they_expect_what_their_comments_say(
    shipped: ManifestSet, file: str, base: str, suffix: str, mode: str
) -> None:
    path, method = f"test/{file}.py", f"{base}{suffix}"
    (planned,) = plan([CollectedTest(f"{path}::TSPYRE::{method}", path, "T", base, method)], shipped, "spyre")
    assert planned.expectation.mode == mode


def test_what_their_models_use_was_recorded_with_the_packages_that_are_pinned(shipped: ManifestSet) -> None:
    """Else a change may lead to none of them: `relay manifest model-ops --write`."""
    extras = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    pins = dict(pin.split("==") for extra in ("emulator", "models") for pin in extras[extra] if "==" in pin)
    packages = ", ".join(f"{name} {pins[name]}" for name in ("torch", "transformers"))
    assert len(shipped.models) == 7
    for model in shipped.models.values():
        assert model.uses is not None
        assert str(model.uses.recorded_with).replace("+cpu", "") == packages
        assert len(model.uses.operators) > 20
