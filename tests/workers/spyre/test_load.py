"""Loading the device: silent unless asked for, and a clear error in place of a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workers.spyre.device_process import Run
from workers.spyre.load import DeviceLoadError, require_device_count
from workers.spyre.seal import Seal, SealError, add_seal, read_seal

IMPORT = "import torch; print(torch.ones(1, device='spyre').device)"
LOAD = "import sys, torch; from pathlib import Path; from workers.spyre.load import load_device; "


def refusal(run_python: Run, library: Path) -> str:
    """What an explicit load says. Loading by `import torch` must say the same in one line, and leave torch working."""
    explicit = run_python("-c", f"{LOAD} load_device(Path({str(library)!r}))", SPYRE_LIBRARY="")
    assert explicit.returncode == 1
    said = explicit.stderr.splitlines()[-1].removeprefix("workers.spyre.load.DeviceLoadError: ")
    plain = run_python("-W", "error", "-c", "import torch; print(torch.ones(1))", SPYRE_LIBRARY=str(library))
    assert (plain.stdout, plain.stderr) == ("tensor([1.])\n", f"spyre: no device: {said}\n")
    return said


@pytest.mark.parametrize("variable", ["SPYRE_LIBRARY", "RELAY_DEVICE_CACHE", "XDG_CACHE_HOME", "HOME"])
def test_plain_import_torch_gives_the_device(
    run_python: Run, device_library: Path, tmp_path: Path, variable: str
) -> None:
    """The entry point is all that is needed, warnings being errors: by a named library, or from the default cache."""
    folders = {"RELAY_DEVICE_CACHE": "", "XDG_CACHE_HOME": "oot-relay/device", "HOME": ".cache/oot-relay/device"}
    if variable in folders:
        cache = tmp_path / folders[variable]
        cache.mkdir(parents=True, exist_ok=True)
        (cache / device_library.name).symlink_to(device_library)
    value = str(device_library if variable == "SPYRE_LIBRARY" else tmp_path)
    done = run_python("-W", "error", "-c", IMPORT, **{variable: value})
    assert (done.stdout, done.stderr) == ("spyre:0\n", "")


@pytest.mark.parametrize("switch", [{"SPYRE_LIBRARY": ""}, {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}])
def test_switched_off_there_is_no_device_and_no_word(run_python: Run, switch: dict[str, str]) -> None:
    """Other programs in the environment need not notice us."""
    code = "import sys, torch; print(hasattr(torch, 'spyre'), 'workers.spyre.load' in sys.modules)"
    done = run_python("-c", code, **switch)
    assert (done.stdout, done.stderr) == ("False False\n", "")


@pytest.mark.parametrize(
    ("in_cache", "cause"),
    [
        ("", "it is not compiled yet for torch 2.13.0"),
        ("libspyre-torch2.12.1+cpu-0123456789abcdef.so", "it is compiled for torch 2.12.1+cpu, this is torch 2.13.0"),
        ("libspyre-torch{torch}-0123456789abcdef.so", "were compiled from other sources"),
        ("{name}", "is not a complete device library"),
    ],
)
def test_an_unusable_cache_is_one_line_and_torch_works(
    run_python: Run, device_library: Path, tmp_path: Path, in_cache: str, cause: str
) -> None:
    """Cause and command on standard error; the importing program goes on without the device."""
    if in_cache:
        torch = device_library.name.split("-")[1].removeprefix("torch")
        (tmp_path / in_cache.format(torch=torch, name=device_library.name)).write_text("not a library")
    code = "import torch; print(torch.ones(1).device, torch.accelerator.is_available())"
    done = run_python("-W", "error", "-c", code, RELAY_DEVICE_CACHE=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "cpu False\n")
    (line,) = done.stderr.splitlines()
    assert line.startswith("spyre: no device: ")
    assert cause in line
    assert line.endswith("Run `relay device build`.")


def test_another_torch_series_is_one_line(run_python: Run, tmp_path: Path) -> None:
    """A torch that the device was not written for is told before anything is looked for."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(
        "__version__ = '2.15.0'\nfrom workers.spyre import autoload\nautoload()\n"
    )
    done = run_python("-c", "import torch; print(torch.__version__)", PYTHONPATH=str(tmp_path))
    assert done.stdout == "2.15.0\n"
    assert done.stderr == (
        "spyre: no device: it is written for torch 2.13 or 2.14, this is torch 2.15.0. "
        "Install torch 2.13 or 2.14, then run `relay device build`.\n"
    )


def test_another_out_of_tree_device_keeps_its_place(run_python: Run, device_library: Path) -> None:
    """torch has room for one; the one that came first stays whole."""
    code = f"{LOAD} torch.utils.rename_privateuse1_backend('other');load_device(Path({str(device_library)!r}))"
    done = run_python("-c", code, SPYRE_LIBRARY="")
    assert "this process has `other` already" in done.stderr.splitlines()[-1]


def test_a_bug_of_ours_is_not_hidden(run_python: Run, device_library: Path) -> None:
    """Only foreseeable failures become a line; torch then says how to switch the device off."""
    code = (
        "import sys, workers.spyre.load as load\n"
        "def broken(library): raise AttributeError('a bug')\n"
        "load.load_device = broken\n"
        "import torch\n"
    )
    done = run_python("-c", code, SPYRE_LIBRARY=str(device_library))
    assert done.returncode == 1
    assert "a bug" in done.stderr
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD=0" in done.stderr


def test_loading_twice_is_loading_once(run_python: Run, device_library: Path) -> None:
    """A second `autoload` in the same process changes nothing."""
    code = f"{IMPORT}; from workers.spyre import autoload; autoload(); print(torch.spyre.device_count())"
    assert run_python("-c", code, SPYRE_LIBRARY=str(device_library)).stdout == "spyre:0\n1\n"


def test_importing_the_package_imports_nothing_heavy(run_python: Run) -> None:
    """Nothing at all but the packages themselves."""
    code = "import sys; before = set(sys.modules); import workers.spyre; print(sorted(set(sys.modules) - before))"
    assert run_python("-S", "-c", code).stdout == "['__future__', 'workers', 'workers.spyre']\n"


def test_a_missing_library_names_path_and_next_step(run_python: Run, tmp_path: Path) -> None:
    """Cause, and the command that helps."""
    said = refusal(run_python, tmp_path / "gone.so")
    assert said == (
        f"the device library {tmp_path}/gone.so cannot be read (No such file or directory). Run `relay device build`."
    )


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
    said = refusal(run_python, broken)
    assert "is damaged" in said or "is not a complete device library" in said


def test_a_library_for_another_torch_names_both_versions(run_python: Run, device_library: Path, tmp_path: Path) -> None:
    """Refused before it is loaded, since its virtual tables would not fit."""
    other = tmp_path / "other.so"
    other.write_bytes(device_library.read_bytes())
    add_seal(other, Seal("2.12.0", "g++", "spyre"))
    assert "was built for torch 2.12.0, this is torch 2.13.0" in refusal(run_python, other)


def test_an_intact_file_that_is_no_library_is_an_error(run_python: Run, device_library: Path, tmp_path: Path) -> None:
    """The loader's own words are passed on."""
    fake = tmp_path / "fake.so"
    fake.write_bytes(b"sealed text")
    add_seal(fake, read_seal(device_library))
    assert "cannot be loaded" in refusal(run_python, fake)


@pytest.mark.parametrize("count", ["0", "9", "-1", "two", "", "²"])
def test_a_count_that_cannot_be_emulated_is_refused(count: str) -> None:
    """The variable, the value and the limits are named."""
    with pytest.raises(DeviceLoadError, match=r"SPYRE_DEVICE_COUNT is .* must be 1 to 8"):
        require_device_count(count)


def test_a_seal_is_read_back(tmp_path: Path) -> None:
    """What was added is found, and the content before it is untouched."""
    file = tmp_path / "library.so"
    file.write_bytes(b"\x7fELF")
    add_seal(file, Seal("2.13.0+cpu", "12.2.0", "spyre"))
    assert read_seal(file) == Seal("2.13.0+cpu", "12.2.0", "spyre")
    assert file.read_bytes().startswith(b"\x7fELF\n")


@pytest.mark.parametrize("line", [b"{}", b"[]", b"nonsense", b'{"torch": "2.13.0"}'])
def test_a_broken_seal_is_an_error(tmp_path: Path, line: bytes) -> None:
    """Whatever follows the mark, the answer is a SealError."""
    file = tmp_path / "library.so"
    file.write_bytes(b"content\nspyre-seal " + line)
    with pytest.raises(SealError, match="is damaged"):
        read_seal(file)
