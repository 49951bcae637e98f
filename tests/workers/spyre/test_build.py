"""Building the library: cached by what goes in, safe among processes, and clear about what is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workers.spyre.device_process import ROOT, Run
from workers.spyre.build import DeviceBuildError, ensure_library, find_torch
from workers.spyre.seal import read_seal


def _without_compiler(folder: Path) -> str:
    folder.mkdir()
    return str(folder)


def _fake_compiler(folder: Path, script: str) -> str:
    """A PATH whose g++ is this shell script."""
    folder.mkdir()
    compiler = folder / "g++"
    compiler.write_text(f"#!/bin/sh\n{script}\n")
    compiler.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def _quick_compiler(folder: Path) -> str:
    """A g++ that writes its output slowly in two halves and keeps a list of its runs beside itself."""
    return _fake_compiler(
        folder,
        'case "$1" in -dump*) echo fake; exit;; esac\n'
        'while [ "$1" != "-o" ]; do shift; done\n'
        f"echo run >> {folder}/runs\n"
        'printf half > "$2"; sleep 0.3; printf done >> "$2"',
    )


def test_a_built_library_is_found_again(device_library: Path) -> None:
    """A second call answers with the same file and leaves it alone."""
    before = device_library.stat()
    assert ensure_library(device_library.parent) == device_library
    assert device_library.stat().st_mtime_ns == before.st_mtime_ns


def test_the_library_of_another_environment_is_for_the_torch_there(device_library: Path, tmp_path: Path) -> None:
    torch = find_torch()
    assert ensure_library(device_library.parent, wheel=torch.folder.parent) == device_library
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/version.py").write_text("__version__ = '2.12.1'\n")
    with pytest.raises(DeviceBuildError, match=r"torch 2\.12\.1 is installed, but the device needs torch"):
        ensure_library(device_library.parent, wheel=tmp_path)


def test_the_program_prints_the_path(device_library: Path, run_python: Run) -> None:
    """`python -m workers.spyre.build` writes the path and nothing else."""
    done = run_python("-m", "workers.spyre.build", "--cache", str(device_library.parent))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{device_library}\n", "")


def test_building_does_not_import_torch(device_library: Path, run_python: Run) -> None:
    """Celery workers build, and must stay free of torch."""
    code = (
        "import sys, pathlib; from workers.spyre.build import ensure_library;"
        f"ensure_library(pathlib.Path({str(device_library.parent)!r})); sys.exit('torch' in sys.modules)"
    )
    assert run_python("-c", code).returncode == 0


def test_no_compiler_is_one_sentence_with_the_package(run_python: Run, tmp_path: Path) -> None:
    """Exit code 1 and the Debian package to install."""
    path = _without_compiler(tmp_path / "bin")
    done = run_python("-m", "workers.spyre.build", "--cache", str(tmp_path / "cache"), PATH=path)
    assert done.returncode == 1
    assert "no g++ on PATH" in done.stderr
    assert "apt-get install g++" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "cache").exists()


def test_a_compiler_that_does_not_run_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Broken is told from missing."""
    monkeypatch.setenv("PATH", _fake_compiler(tmp_path / "bin", "exit 3"))
    with pytest.raises(DeviceBuildError, match="does not run"):
        ensure_library(tmp_path / "cache")


def test_compiler_errors_are_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The telling lines, not the whole output; and nothing is left in the cache."""
    script = 'case "$1" in -dump*) echo fake; exit;; esac; echo "x.h:1: error: no such thing" >&2; seq 5000 >&2; exit 1'
    monkeypatch.setenv("PATH", _fake_compiler(tmp_path / "bin", script))
    with pytest.raises(DeviceBuildError, match=r"x\.h:1: error: no such thing") as raised:
        ensure_library(tmp_path / "cache")
    assert len(str(raised.value)) < 1000
    assert [file.name for file in (tmp_path / "cache").iterdir()] == [".lock"]


@pytest.mark.parametrize("version", ["2.12.1", "2.15.0+cpu", "3.0"])
def test_another_torch_is_refused_with_the_needed_version(run_python: Run, tmp_path: Path, version: str) -> None:
    """Before any compiler runs."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    (tmp_path / "torch" / "version.py").write_text(f"__version__ = '{version}'\n")
    done = run_python("-m", "workers.spyre.build", "--cache", str(tmp_path / "cache"), PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert f"torch {version} is installed, but the device needs torch 2.13 or 2.14" in done.stderr


def test_no_torch_names_the_extra(tmp_path: Path) -> None:
    """An environment without site-packages."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from workers.spyre.build import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, "--cache", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "oot-relay[emulator]" in done.stderr


def test_a_cache_that_cannot_be_written_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file where the folder should be: cause and next step."""
    monkeypatch.setenv("PATH", _quick_compiler(tmp_path / "bin"))
    (tmp_path / "cache").touch()
    with pytest.raises(DeviceBuildError, match=r"cannot be written to .*choose a folder"):
        ensure_library(tmp_path / "cache")


def test_processes_that_build_at_once_share_one_build(run_python: Run, tmp_path: Path) -> None:
    """One compiles, the others wait and use its library; nobody sees half of it."""
    path = _quick_compiler(tmp_path / "bin")
    command = [sys.executable, "-m", "workers.spyre.build", "--cache", str(tmp_path / "cache")]
    environment = {"PATH": path, "HOME": "/"}
    builds = [subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {build.communicate(timeout=60)[0].strip() for build in builds}
    assert [build.returncode for build in builds] == [0, 0, 0]
    (library,) = answers
    assert Path(library).read_bytes().startswith(b"halfdone\nspyre-seal ")
    assert (tmp_path / "bin" / "runs").read_text() == "run\n"


def test_a_damaged_cache_is_built_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A truncated library is recognised and replaced."""
    monkeypatch.setenv("PATH", _quick_compiler(tmp_path / "bin"))
    library = ensure_library(tmp_path / "cache")
    whole = library.read_bytes()
    library.write_bytes(whole[:20])
    assert ensure_library(tmp_path / "cache") == library
    assert library.read_bytes() == whole


def test_the_compiler_is_asked_only_to_build(monkeypatch: pytest.MonkeyPatch, device_library: Path) -> None:
    """What is built can be used on a machine without a compiler; the seal remembers which one it was."""
    monkeypatch.setenv("PATH", "")
    assert ensure_library(device_library.parent) == device_library
    assert re.fullmatch(r"[\d.]+", read_seal(device_library).compiler)


def test_without_a_cache_the_default_one_is_used(device_library: Path, run_python: Run) -> None:
    """The same that `import torch` looks into."""
    done = run_python("-m", "workers.spyre.build", RELAY_DEVICE_CACHE=str(device_library.parent))
    assert (done.stdout, done.stderr) == (f"{device_library}\n", "")


def test_the_library_needs_no_python(device_library: Path) -> None:
    """No undefined Python symbol: one build serves every interpreter."""
    nm = subprocess.run(
        ["nm", "-D", "--undefined-only", str(device_library)], capture_output=True, text=True, check=True
    )
    assert " U Py" not in nm.stdout
    assert "c10" in nm.stdout
