"""Sixteen ways out of the sandbox, or to use it up, are tried inside, as each kind of user that can be a worker."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.waiting import until
from tests.workers.runner.sandbox.inside import (
    as_nobody,
    missing,
    named,
    open_folder,
    reachable_python,
    run_inside,
)
from workers.runner.sandbox import Sandbox, Unconfined
from workers.spyre.build import ensure_library

PROBES = (
    "network",
    "interfaces",
    "environment_secrets",
    "read_only_checkout",
    "read_only_environment",
    "host_files",
    "visible_pids",
    "uid",
    "capabilities",
    "new_user_namespaces",
    "tmp_quota",
    "allocation",
    "fork_bomb",
    "daemon",
    "ptrace",
    "device",
)
#: Probes that hurt nothing where they succeed.
HARMLESS = ("network", "interfaces", "read_only_checkout", "host_files", "visible_pids", "ptrace")
REPOSITORY = Path(__file__).parents[4]
Problems = dict[str, str]


@pytest.fixture(scope="module")
def library(pytestconfig: pytest.Config) -> Path:
    """The built device, kept between test runs."""
    cache = pytestconfig.cache
    assert cache is not None
    return ensure_library(cache.mkdir("spyre"))


@pytest.fixture(scope="module")
def as_worker(sandbox: Sandbox, library: Path) -> Problems:
    """What the probes found, started by this user."""
    return probe(sandbox, PROBES, library=library)


@pytest.fixture(scope="module")
def as_unprivileged(sandbox: Sandbox, as_worker: Problems) -> Problems:
    """What they found, started by a user without rights, with a Python such a user can reach."""
    if os.geteuid() != 0:
        return as_worker
    python = reachable_python()
    if python is None:
        missing("no Python is installed for all users (apt-get install python3)")
    return probe(sandbox, PROBES[:-1], python=python, nobody=True)


@pytest.mark.parametrize("name", PROBES)
def test_the_sandbox_holds(as_worker: Problems, name: str) -> None:
    assert as_worker[name] == ""


@pytest.mark.parametrize("name", PROBES[:-1])
def test_the_sandbox_of_a_worker_without_rights_holds(as_unprivileged: Problems, name: str) -> None:
    """The device needs torch, which such a user may not reach here; nothing about it differs."""
    assert as_unprivileged[name] == ""


def test_what_leaves_its_session_ends_with_the_program(as_worker: Problems) -> None:
    assert as_worker["daemon"] == ""
    until(lambda: not named("left_behind"))


@pytest.mark.parametrize("name", HARMLESS)
def test_without_a_wall_the_probes_get_through(name: str) -> None:
    """They would notice a sandbox that holds nothing."""
    assert probe(Unconfined("for comparison"), (name,))[name] != ""


def probe(
    sandbox: Sandbox,
    names: tuple[str, ...],
    *,
    python: Path = Path(sys.executable),
    library: Path | None = None,
    nobody: bool = False,
) -> Problems:
    """Run the probes; an empty text for each that got nowhere."""
    environment = {"SPYRE_LIBRARY": str(library), "PYTHONPATH": str(REPOSITORY)} if library else {}
    readable = (library.parent, REPOSITORY / "workers") if library else ()
    with open_folder() as folder, socket.create_server(("127.0.0.1", 0)) as server, pytest.MonkeyPatch.context() as own:
        own.setenv("RELAY_WORKER_TOKEN", "of-the-worker")
        program = Path(shutil.copy(Path(__file__).with_name("probes.py"), folder))
        facts = {"port": server.getsockname()[1], "host_file": __file__, "host_pid": os.getpid()}
        (folder / "facts.json").write_text(json.dumps(facts))
        with as_nobody() if nobody else nullcontext():
            argv = (str(python), str(program), *names)
            _, output = run_inside(sandbox, argv, folder, readable=readable, **environment)
    lines = [json.loads(line) for line in output.splitlines() if line.startswith('{"probe"')]
    found = {line["probe"]: line["problem"] for line in lines}
    return {name: found.get(name, f"did not come to an end: {output}") for name in names}
