"""The relay always has a whole set of manifests: the newest that loads, and the reason when it is not the newest."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from relay.contract import ManifestText
from relay.manifests import (
    LoadedManifests,
    ManifestFolderError,
    ManifestStore,
    manifest_files,
    read_manifest,
    what_manifests_say,
)
from selector.manifests import MAX_BYTES, ManifestDocument, load_manifests
from selector.manifests.models import ModelCheck

GOOD = "test_suite_config:\n  files:\n    - path: ${TORCH_ROOT}/test/%s\n      unlisted_test_mode: skip\n"
BAD = GOOD.replace("skip", "maybe")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "demo").mkdir()
    write(tmp_path / "demo" / "demo.yaml", GOOD % "test_a.py")
    write(tmp_path / "b.yaml", GOOD % "test_b.py")
    return tmp_path


def write(path: Path, text: str) -> None:
    """Replace a file as an editor does, so that it has a new inode whatever the clock's grain."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def test_manifests_are_named_by_their_path_below_the_folder(folder: Path) -> None:
    loaded = ManifestStore(folder).current()
    assert loaded.texts == (
        ManifestText(name="b.yaml", text=GOOD % "test_b.py"),
        ManifestText(name="demo/demo.yaml", text=GOOD % "test_a.py"),
    )
    assert loaded.problem is None


def test_the_digest_is_the_selectors(folder: Path) -> None:
    loaded = ManifestStore(folder).current()
    documents = [ManifestDocument(text.name, text.text) for text in loaded.texts]
    assert loaded.digest == load_manifests(documents).digest


def test_nothing_is_read_again_while_nothing_changes(folder: Path) -> None:
    store = ManifestStore(folder)
    assert store.current() is store.current()


def test_a_changed_an_added_and_a_removed_file_are_seen(folder: Path) -> None:
    store = ManifestStore(folder)
    first = store.current()
    write(folder / "b.yaml", GOOD % "test_c.py")
    changed = store.current()
    assert changed.texts[0].text == GOOD % "test_c.py"
    write(folder / "c.yaml", GOOD % "test_d.py")
    assert [text.name for text in store.current().texts] == ["b.yaml", "c.yaml", "demo/demo.yaml"]
    (folder / "c.yaml").unlink()
    assert store.current().digest == changed.digest
    assert changed.digest != first.digest


def test_a_bad_edit_keeps_the_last_good_set_and_says_what_is_wrong(folder: Path) -> None:
    store = ManifestStore(folder)
    good = store.current()
    write(folder / "b.yaml", BAD % "test_b.py")
    kept = store.current()
    assert (kept.texts, kept.digest) == (good.texts, good.digest)
    assert kept.problem is not None
    assert kept.problem.startswith("b.yaml:4:27: `unlisted_test_mode` must be 'mandatory_success', 'xfail'")
    assert kept.problem.endswith("; the last good set stays in use")
    assert store.problem == kept.problem
    assert store.current() is kept


def test_a_corrected_edit_ends_the_problem(folder: Path) -> None:
    store = ManifestStore(folder)
    write(folder / "b.yaml", BAD % "test_b.py")
    assert store.current().texts == ()
    assert str(store.problem).endswith("; no manifests are in use")
    write(folder / "b.yaml", GOOD % "test_b.py")
    assert len(store.current().texts) == 2
    assert store.problem is None


def test_a_missing_folder_is_a_sentence_and_a_found_one_ends_it(folder: Path, tmp_path: Path) -> None:
    store = ManifestStore(tmp_path / "elsewhere")
    loaded = store.current()
    assert loaded.texts == ()
    assert loaded.problem == (
        f"the manifest folder {tmp_path / 'elsewhere'} does not exist; create it, or set RELAY_MANIFEST_DIR to another "
        "one; no manifests are in use"
    )
    (folder / "demo").rename(tmp_path / "elsewhere")
    assert [text.name for text in store.current().texts] == ["demo.yaml"]
    assert store.problem is None


def test_a_folder_that_goes_and_comes_back_unchanged_is_loaded_again(folder: Path, tmp_path: Path) -> None:
    away = tmp_path.with_name(tmp_path.name + "-away")
    store = ManifestStore(folder)
    good = store.current()
    folder.rename(away)
    assert store.current().digest == good.digest
    assert store.problem is not None
    away.rename(folder)
    assert store.current() == good


def test_hidden_files_and_folders_are_no_manifests(folder: Path) -> None:
    (folder / "..data").mkdir()
    write(folder / "..data" / "demo.yaml", GOOD % "test_a.py")
    write(folder / ".b.yaml", GOOD % "test_b.py")
    write(folder / "notes.yml", "- other")
    assert [path.name for path in manifest_files(folder)] == ["b.yaml", "demo.yaml"]


def test_the_sets_of_other_profiles_are_part_of_no_set_but_their_own(folder: Path) -> None:
    write(folder / "profiles" / "strict" / "b.yaml", GOOD % "test_b.py")
    write(folder / "deep" / "profiles" / "c.yaml", GOOD % "test_c.py")
    write(folder / "profiles.yaml", GOOD % "test_d.py")
    assert [path.name for path in manifest_files(folder)] == ["b.yaml", "demo.yaml", "profiles.yaml"]
    assert [path.name for path in manifest_files(folder / "profiles" / "strict")] == ["b.yaml"]


def test_an_empty_folder_is_an_empty_set_without_a_problem(tmp_path: Path) -> None:
    loaded = ManifestStore(tmp_path).current()
    assert (loaded.texts, loaded.problem) == ((), None)


def test_bytes_that_are_no_utf_8_are_a_problem_with_a_place(folder: Path) -> None:
    (folder / "b.yaml").write_bytes(b"a: 1\nb: \xff\n")
    assert "b.yaml:2:4: not UTF-8 text" in str(ManifestStore(folder).current().problem)


def test_not_more_than_the_cap_is_read_of_a_huge_file(folder: Path) -> None:
    with (folder / "b.yaml").open("wb") as stream:
        stream.truncate(50 * MAX_BYTES)
    assert len(read_manifest(folder / "b.yaml", "b.yaml").text) == MAX_BYTES + 1
    assert "b.yaml:1:1: larger than 2 MiB" in str(ManifestStore(folder).current().problem)


def test_a_manifest_that_can_not_be_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ManifestFolderError, match=r"the manifest .*gone\.yaml can not be read: No such file"):
        read_manifest(tmp_path / "gone.yaml", "gone.yaml")


def test_many_threads_see_whole_sets_while_the_folder_changes(folder: Path) -> None:
    store = ManifestStore(folder)
    texts = [GOOD % f"test_{n}.py" for n in range(20)] + [BAD % "test_b.py"]

    def look(text: str) -> tuple[int, str]:
        own = folder / f".{hash(text)}"
        own.write_text(text, encoding="utf-8")
        os.replace(own, folder / "b.yaml")
        loaded = store.current()
        return len(loaded.texts), loaded.digest

    store.current()
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(look, texts * 3))
    assert {count for count, _ in seen} == {2}
    assert all(len(digest) == 64 for _, digest in seen)


REMARKED = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: mandatory_success
      tests:
        - names: [TestA::test_x]
          mode: xfail
          reason: not there yet
          owner: "module: nn"
          expires: 2027-01-31
        - names: [test_free]
          mode: skip
"""


@pytest.mark.parametrize(
    ("name", "base", "told"),
    [
        ("test_a.py::TestASPYRE::test_x_spyre", "TestA::test_x", ("xfail", "listed", "a.yaml:6", "module: nn")),
        ("test_a.py::TestASPYRE::test_y_spyre", "TestA::test_y", ("mandatory_success", "unlisted", "a.yaml:3", "")),
        ("test_a.py::test_free", "test_free", ("skip", "listed", "a.yaml:11", "")),
        ("test_z.py::TestZ::test_z", "TestZ::test_z", ("skip", "not_in_manifests", "", "")),
    ],
)
def test_the_set_in_use_says_what_is_expected_of_a_test(
    tmp_path: Path, name: str, base: str, told: tuple[str, str, str, str]
) -> None:
    """Its functions too, which the framework would run unasked."""
    write(tmp_path / "a.yaml", REMARKED)
    file = name.partition("::")[0]
    loaded = ManifestStore(tmp_path).current()
    says = what_manifests_say(loaded, f"test/{name}", base=f"test/{file}::{base}", op="", dtype="", device="spyre")
    assert says is not None
    assert (says.mode, says.rule, says.provenance, says.owner) == told
    assert bool(says.expires) == (says.owner != "")


def test_nothing_is_said_without_a_set_or_about_what_is_no_test(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", BAD % "test_a.py")
    loaded = ManifestStore(tmp_path).current()
    assert what_manifests_say(loaded, "a.py::T::t", base="a.py::T::t", op="", dtype="", device="spyre") is None
    write(tmp_path / "a.yaml", REMARKED)
    loaded = ManifestStore(tmp_path).current()
    assert what_manifests_say(loaded, "a.py", base="a.py", op="", dtype="", device="spyre") is None


def test_models_are_handed_out_by_what_stands_for_a_file_in_their_tests_each_once(tmp_path: Path) -> None:
    source = 'import_path: "a:b", inputs: [{shape: [1], below: 2}], compare: [logits], dtypes: [float16]'
    write(tmp_path / "m.yaml", f"test_suite_config: {{files: [], models: [{{name: one, {source}}}]}}\n")
    loaded = ManifestStore(tmp_path).current()
    (order,) = loaded.models(["test/test_a.py", "models/one", "models/gone", "models/one"])
    assert order.file == "models/one"
    assert ModelCheck.from_json(order.check).import_path == "a:b"
    assert LoadedManifests((), "", None).models(["models/one"]) == ()
