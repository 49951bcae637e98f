"""Descriptions of backends: what they may say, and what is said about those that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.contract import EMULATOR, BackendDescription, BackendError, read_backend, read_backends

SHIPPED = Path(__file__).parents[3] / "deploy" / "backends"


def described(folder: Path, text: str, name: str = "quartz.yaml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_what_is_left_out_is_the_devices_own(tmp_path: Path) -> None:
    found = read_backend(described(tmp_path, "device: quartz\npackage: torch_quartz\n"))
    assert found == BackendDescription(device="quartz", package="torch_quartz")
    assert (found.queue_of_device, found.manifests, found.allowlist) == ("quartz", None, None)


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    text = f"device: quartz\npackage: {EMULATOR}\nprofile: slow.toml\nmanifests: what/it/can\n"
    found = read_backend(described(tmp_path, text))
    assert found.manifests == tmp_path / "what" / "it" / "can"
    assert found.profile == str(tmp_path / "slow.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("device: [", "quartz.yaml:1: this is no YAML"),
        ("", "the file: Input should be"),
        ("device: Quartz 2\npackage: a\n", "device: String should match"),
        ("device: quartz\n", "the device quartz needs a package"),
        ("device: cpu\npackage: torch_cpu\n", "the device cpu needs no package"),
        ("device: quartz\npackage: os; rm\n", "package: String should match"),
        ("device: quartz\npackage: a\nprofile: compat\n", "only the emulator has profiles"),
        ("device: quartz\npackage: a\nqueues: b\n", "queues: Extra inputs"),
        ("device: quartz\npackage: a\nallowlist: acme\n", "allowlist: String should match"),
        ("#" * 70_000, "the file: Input should be"),
    ],
)
def test_what_cannot_be_used_names_the_file_the_fault_and_the_next_step(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BackendError) as refused:
        read_backend(described(tmp_path, text))
    assert said in str(refused.value)
    assert "quartz.yaml" in str(refused.value)
    assert "Compare it with deploy/backends/spyre.yaml" in str(refused.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="No such file"):
        read_backend(tmp_path / "absent.yaml")


def test_a_folder_is_read_by_name_without_what_is_hidden(tmp_path: Path) -> None:
    for name, device in (("b.yaml", "quartz"), ("a.yml", "spyre"), (".c.yaml", "hidden")):
        described(tmp_path, f"device: {device}\npackage: x\n", name)
    assert [one.device for one in read_backends([tmp_path])] == ["spyre", "quartz"]


@pytest.mark.parametrize(("second", "said"), [("quartz", "twice"), ("spyre\nqueue: quartz", "the same queue")])
def test_two_of_one_device_or_one_queue_are_refused(tmp_path: Path, second: str, said: str) -> None:
    files = [
        described(tmp_path, "device: quartz\npackage: x\n"),
        described(tmp_path, f"device: {second}\npackage: x\n", "other.yaml"),
    ]
    with pytest.raises(BackendError, match=said):
        read_backends(files)


def test_an_empty_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="There is no backend in"):
        read_backends([tmp_path])


def test_those_that_are_shipped_can_be_served_together() -> None:
    """And what they name of this repository is there."""
    found = read_backends([SHIPPED])
    assert "spyre" in [one.device for one in found]
    assert [one.manifests for one in found if one.manifests and not one.manifests.is_dir()] == []
