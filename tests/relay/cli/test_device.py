"""`relay device`: its programs run apart from it; what they say reaches a person whole, and a script as JSON."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.relay.cli.conftest import Relay

FAKE_COMPILER = """#!/bin/sh
case "$1" in -dump*) echo 0.0.1; exit;; esac
while [ "$1" != "-o" ]; do shift; done
echo "not a library" > "$2"
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache that this environment uses, and a compiler that is quick and whose work is no library."""
    compiler = tmp_path / "bin" / "g++"
    compiler.parent.mkdir()
    compiler.write_text(FAKE_COMPILER)
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{compiler.parent}:{os.environ['PATH']}")
    folder = tmp_path / "cache"
    monkeypatch.setenv("RELAY_DEVICE_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def built() -> Path:
    """The real device, built once and kept in the user's cache."""
    command = [sys.executable, "-m", "workers.spyre.build"]
    return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def test_building_prints_the_path_and_is_quiet_the_second_time(relay: Relay, cache: Path) -> None:
    """The path alone on stdout; what takes so long is said beside it, once."""
    first = relay("device", "build")
    assert first.code == 0
    assert first.err.startswith("compiling the device for torch 2.13.")
    assert Path(first.out.strip()).parent == cache
    second = relay("device", "build", "--json")
    assert (second.code, second.json, second.err) == (0, {"library": first.out.strip()}, "")


def test_no_compiler_is_named(relay: Relay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1, one sentence with the package to install; an object for programs."""
    monkeypatch.setenv("PATH", "")
    ended = relay("device", "build", "--cache", str(tmp_path / "cache"))
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (1, "", 1)
    assert ended.err.startswith("error: the device library needs a C++ compiler and there is no g++ on PATH")
    assert "no g++" in relay("device", "build", "--json", "--cache", str(tmp_path / "cache")).error["message"]


def test_a_compiler_that_fails_is_quoted(relay: Relay, cache: Path, tmp_path: Path) -> None:
    """Its telling lines, after our sentence."""
    fails = "echo 'a.h:1: error: x' >&2; exit 1"
    (tmp_path / "bin" / "g++").write_text(f'#!/bin/sh\n[ "$1" = -dumpfullversion ] || {{ {fails}; }}\n')
    ended = relay("device", "build")
    assert ended.code == 1
    assert ended.err.splitlines()[1:] == [
        "error: g++ could not build the device library for torch 2.13.0+cpu; it said:",
        "a.h:1: error: x",
    ]


def test_the_list_tells_intact_from_damaged_and_used_from_kept(relay: Relay, cache: Path) -> None:
    """An empty cache names the file that is looked for; a damaged one is marked and the command that mends it named."""
    empty = relay("device", "list")
    assert (empty.code, empty.out) == (0, "")
    assert "`relay device build` makes it" in empty.err
    library = Path(relay("device", "build").out.strip())
    other = cache / "libspyre-torch2.12.0+cpu-0123456789abcdef.so"
    other.write_text("half a lib")
    listed = relay("device", "list")
    rows = [line.split("\t") for line in listed.out.splitlines()]
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ("fail", "2.12.0+cpu", str(other)),
        ("ok", "2.13.0+cpu", str(library)),
    ]
    assert rows[1][3] == "0.0.1"
    assert listed.err == f"{other} is not a complete device library (it ends without a seal)\n"
    as_json = relay("device", "list", "--json").json
    assert isinstance(as_json, dict)
    assert as_json["wanted"] == str(library)
    assert [found["used"] for found in as_json["libraries"]] == [False, True]


@pytest.mark.parametrize("profile", ["compat", "spyre-2026-06"])
def test_status_of_a_device_that_works(
    relay: Relay, built: Path, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    """How many there are, of which torch and profile, from which file, and that each computes."""
    monkeypatch.setenv("SPYRE_PROFILE", profile)
    monkeypatch.setenv("SPYRE_LIBRARY", str(built))
    monkeypatch.setenv("SPYRE_DEVICE_COUNT", "2")
    ended = relay("device", "status")
    assert (ended.code, ended.err) == (0, "")
    first, second = ended.out.splitlines()
    assert first.startswith("torch 2.13.0")
    assert first.endswith(f"2 devices, profile {profile}, {built}")
    assert second == "an addition on each gives the right sum"


def test_status_of_a_device_that_is_not_there(relay: Relay, cache: Path) -> None:
    """Exit code 1 with the cause; torch itself is told all the same."""
    ended = relay("device", "status", "--json")
    assert ended.code == 1
    assert isinstance(ended.json, dict)
    assert (ended.json["ok"], ended.json["devices"]) == (False, 0)
    assert ended.json["torch"].startswith("2.13.0")
    assert "not compiled yet" in ended.json["problem"]
    assert ended.json["problem"].endswith("Run `relay device build`.")


def test_status_with_a_profile_that_is_not_there(relay: Relay, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The known ones are named."""
    monkeypatch.setenv("SPYRE_LIBRARY", str(built))
    monkeypatch.setenv("SPYRE_PROFILE", "no-such-profile")
    ended = relay("device", "status")
    assert ended.code == 1
    assert "compat, spyre-2026-06" in ended.err


def test_status_of_a_device_that_is_switched_off(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    """By our switch and by torch's: each is named."""
    monkeypatch.setenv("SPYRE_LIBRARY", "")
    assert "SPYRE_LIBRARY is empty" in relay("device", "status").err
    assert "SPYRE_LIBRARY is empty" in relay("device", "list").err
    monkeypatch.delenv("SPYRE_LIBRARY")
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    ended = relay("device", "status")
    assert ended.code == 1
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD switches the device off" in ended.err


def test_a_library_that_kills_its_process_is_told(
    relay: Relay, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command outlives it and says what to do."""
    compiler = shutil.which("g++", path=os.environ["PATH"].partition(":")[2])
    assert compiler is not None
    source = tmp_path / "dies.cpp"
    source.write_text("#include <cstdlib>\nstatic const int dead = (std::abort(), 0);\n")
    script = FAKE_COMPILER.replace('echo "not a library" > "$2"', f'{compiler} -shared -fPIC -o "$2" {source}')
    (tmp_path / "bin" / "g++").write_text(script)
    assert relay("device", "build").code == 0
    ended = relay("device", "status")
    assert ended.code == 1
    assert "died without an answer" in ended.err
    assert "relay device build" in ended.err


def test_no_secret_and_no_folder_of_the_caller_reaches_the_programs(
    relay: Relay, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkout with a `torch` folder in it is not taken for torch, and tokens stay here."""
    monkeypatch.setenv("RELAY_WORKER_TOKEN", "the-token")
    (tmp_path / "bin" / "g++").write_text(
        f'#!/bin/sh\nenv > {tmp_path}/environment\ncase "$1" in -dump*) echo 0; exit;; esac\nexit 1\n'
    )
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)
    assert "for torch 2.13.0" in relay("device", "build").err
    seen = (tmp_path / "environment").read_text()
    assert f"RELAY_DEVICE_CACHE={cache}" in seen
    assert "TOKEN" not in seen
