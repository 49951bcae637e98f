"""Loading the device: silent unless asked for, and a clear error in place of a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workers.spyre.device_process import Run
from workers.spyre.load import DeviceLoadError, require_device_count
from workers.spyre.seal import SealError, add_seal, read_seal

IMPORT = "import torch; print(torch.ones(1, device='spyre').device)"


def test_torch_without_the_variable_knows_no_device(run_python: Run) -> None:
    """Other programs in the environment do not notice us."""
    done = run_python("-c", "import sys, torch; print(hasattr(torch, 'spyre'), 'workers.spyre.load' in sys.modules)")
    assert done.stdout == "False False\n"


def test_plain_import_torch_gives_the_device(run_python: Run, device_library: Path) -> None:
    """The entry point is all that is needed, warnings being errors."""
    done = run_python("-W", "error", "-c", IMPORT, SPYRE_LIBRARY=str(device_library))
    assert (done.stdout, done.stderr) == ("spyre:0\n", "")


def test_loading_twice_is_loading_once(run_python: Run, device_library: Path) -> None:
    """A second `autoload` in the same process changes nothing."""
    code = f"{IMPORT}; from workers.spyre import autoload; autoload(); print(torch.spyre.device_count())"
    assert run_python("-c", code, SPYRE_LIBRARY=str(device_library)).stdout == "spyre:0\n1\n"


def test_importing_the_package_imports_nothing_heavy(run_python: Run) -> None:
    """Neither torch nor ctypes nor the build."""
    code = (
        "import sys, workers.spyre; print({'torch', 'ctypes', 'subprocess', 'workers.spyre.load'} & set(sys.modules))"
    )
    assert run_python("-c", code).stdout == "set()\n"


def test_a_missing_library_names_path_and_next_step(run_python: Run, tmp_path: Path) -> None:
    """The error that torch shows has ours as its cause."""
    done = run_python("-c", IMPORT, SPYRE_LIBRARY=str(tmp_path / "gone.so"))
    assert done.returncode == 1
    assert f"the device library {tmp_path}/gone.so cannot be read (No such file or directory)" in done.stderr
    assert "python -m workers.spyre.build --cache DIR" in done.stderr


@pytest.mark.parametrize("damage", ["truncated", "flipped", "text"])
def test_a_corrupted_library_does_not_crash_the_process(
    run_python: Run, device_library: Path, tmp_path: Path, damage: str
) -> None:
    """Loading a truncated shared object would end in SIGBUS; it is refused before."""
    whole = device_library.read_bytes()
    middle = len(whole) // 2
    content = {
        "truncated": whole[:middle],
        "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "text": b"not a library",
    }[damage]
    broken = tmp_path / "broken.so"
    broken.write_bytes(content)
    done = run_python("-c", IMPORT, SPYRE_LIBRARY=str(broken))
    assert done.returncode == 1
    assert "is damaged" in done.stderr or "is not a complete device library" in done.stderr


def test_a_library_for_another_torch_names_both_versions(run_python: Run, device_library: Path, tmp_path: Path) -> None:
    """Refused before it is loaded, since its virtual tables would not fit."""
    other = tmp_path / "other.so"
    other.write_bytes(device_library.read_bytes())
    add_seal(other, "2.12.0")
    done = run_python("-c", IMPORT, SPYRE_LIBRARY=str(other))
    assert done.returncode == 1
    assert "was built for torch 2.12.0, this is torch 2.13.0" in done.stderr


def test_an_intact_file_that_is_no_library_is_an_error(run_python: Run, device_library: Path, tmp_path: Path) -> None:
    """The loader's own words are passed on."""
    fake = tmp_path / "fake.so"
    fake.write_bytes(b"sealed text")
    add_seal(fake, read_seal(device_library))
    done = run_python("-c", IMPORT, SPYRE_LIBRARY=str(fake))
    assert done.returncode == 1
    assert "cannot be loaded" in done.stderr


@pytest.mark.parametrize("count", ["0", "9", "-1", "two", "", "²"])
def test_a_count_that_cannot_be_emulated_is_refused(count: str) -> None:
    """The variable, the value and the limits are named."""
    with pytest.raises(DeviceLoadError, match=r"SPYRE_DEVICE_COUNT is .* must be 1 to 8"):
        require_device_count(count)


def test_a_seal_is_read_back(tmp_path: Path) -> None:
    """What was added is found, and the content before it is untouched."""
    file = tmp_path / "library.so"
    file.write_bytes(b"\x7fELF")
    add_seal(file, "2.13.0+cpu")
    assert read_seal(file) == "2.13.0+cpu"
    assert file.read_bytes().startswith(b"\x7fELF\n")


@pytest.mark.parametrize("line", [b"{}", b"[]", b"nonsense", b'{"torch": "2.13.0"}'])
def test_a_broken_seal_is_an_error(tmp_path: Path, line: bytes) -> None:
    """Whatever follows the mark, the answer is a SealError."""
    file = tmp_path / "library.so"
    file.write_bytes(b"content\nspyre-seal " + line)
    with pytest.raises(SealError, match="is damaged"):
        read_seal(file)
