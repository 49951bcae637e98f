"""Torch from a build command: built once, kept, given back, pruned, and never half."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workers.pythons import an_environment
from tests.workers.small_upstream import Upstream
from workers.builds.build_process import BuildCommandError, BuildFailedError, BuildStoppedError, parsed_command
from workers.builds.native_build import NativeBuilds, ShardBuilds
from workers.environments.environment import Environment
from workers.runner.sandbox import Sandbox, SandboxLimits, Unconfined, find_sandbox
from workers.upstream.checkout import Mirror, Mirrors

#: Builds a torch that tells which sources it was made of; `broken` in them stops it.
SCRIPT = """\
echo compiling in $PWD
echo start >> log || exit 7
grep broken native.cpp && exit 3
mkdir -p "$RELAY_BUILD_OUTPUT/torch" && cp "$RELAY_BUILD_SOURCE/native.cpp" "$RELAY_BUILD_OUTPUT/torch/__init__.py"
echo "__version__ = '2.13.0a0'" > "$RELAY_BUILD_OUTPUT/torch/version.py"
"""
Make = Callable[..., ShardBuilds]


@pytest.fixture(params=["none", "strongest"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return find_sandbox(limits=SandboxLimits(file_bytes=1 << 20)) if request.param == "strongest" else Unconfined("")


@pytest.fixture
def mirror(upstream: Upstream, tmp_path: Path) -> Mirror:
    return Mirrors(tmp_path / "mirrors").open(str(upstream.path))


@pytest.fixture
def make(mirror: Mirror, sandbox: Sandbox, tmp_path: Path) -> Make:
    """Builds by a script that is the operator's."""
    (tmp_path / "build.sh").write_text(SCRIPT)

    def builds(
        script: str = SCRIPT,
        environment: Environment | None = None,
        stop: Callable[[], bool] = lambda: False,
        timeout_s: float = 60,
        limit_bytes: int = 1 << 30,
    ) -> ShardBuilds:
        (tmp_path / "build.sh").write_text(script)
        command = ("/bin/sh", str(tmp_path / "build.sh"))
        cache = NativeBuilds(tmp_path / "builds", command, sandbox, timeout_s, limit_bytes)
        return cache.for_shard(
            mirror, environment or an_environment("default", python=Path("/usr/bin/env")), stop, said.append
        )

    said: list[str] = []
    return builds


def commit(upstream: Upstream, mirror: Mirror, files: dict[str, str | None]) -> str:
    sha = upstream.commit(files)
    mirror.ensure(upstream.change(sha, sha))
    return sha


def names(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "builds").iterdir() if path.suffix != ".lock")


def test_a_commit_is_built_once_and_found_again(make: Make, upstream: Upstream, mirror: Mirror, tmp_path: Path) -> None:
    sha = commit(upstream, mirror, {"native.cpp": "int one;\n"})
    with make() as builds:
        first = builds.torch(sha)
        assert (first / "torch/__init__.py").read_text() == "int one;\n"
        made = (first / "torch/__init__.py").stat().st_mtime_ns
        assert builds.torch(sha) == first
    with make() as builds:
        assert builds.torch(sha) == first
    assert (first / "torch/__init__.py").stat().st_mtime_ns == made
    assert names(tmp_path) == [first.name]
    assert (first / "torch/__init__.py").stat().st_uid == os.geteuid()
    assert mirror.git.text("worktree", "list").count("\n") == 0


def test_tests_and_documents_are_not_part_of_what_is_built(
    make: Make, upstream: Upstream, mirror: Mirror, tmp_path: Path
) -> None:
    one = commit(upstream, mirror, {"native.cpp": "1\n", "test/a.py": "1\n"})
    same = commit(upstream, mirror, {"test/a.py": "2\n", "docs/a.md": "1\n"})
    other = commit(upstream, mirror, {"native.cpp": "2\n"})
    with make() as builds:
        assert builds.torch(one) == builds.torch(same)
        assert builds.torch(other) != builds.torch(one)
    with make(environment=an_environment("x", "2.13.1", python=Path("/usr/bin/env"))) as builds:
        builds.torch(one)
    assert len(names(tmp_path)) == 3


@pytest.mark.parametrize(
    ("script", "reason", "tail"),
    [
        ("echo doomed; exit 3", "ended with 3", "doomed"),
        ("echo fine", "left no torch/", ""),
        ("mkdir $RELAY_BUILD_OUTPUT/torch; echo last >&2; kill -9 $$", "ended with", "last"),
        ("ln -s / $RELAY_BUILD_OUTPUT/torch", "left no torch/", ""),
        (
            "mkdir $RELAY_BUILD_OUTPUT/torch; cd $RELAY_BUILD_OUTPUT/torch; touch __init__.py version.py",
            "no version",
            "",
        ),
        (SCRIPT.replace("2.13.0a0", "2.14.0a0"), "The build is torch 2.14.0a0, and the device of environment", ""),
    ],
)
def test_a_build_that_gives_no_torch_is_told_with_its_last_words(
    make: Make, upstream: Upstream, mirror: Mirror, tmp_path: Path, *, script: str, reason: str, tail: str
) -> None:
    sha = commit(upstream, mirror, {"native.cpp": "1\n"})
    with make(script) as builds, pytest.raises(BuildFailedError, match=reason) as caught:
        builds.torch(sha)
    assert tail in caught.value.tail
    assert names(tmp_path) == []
    with make() as builds:  # a failure is not kept: the machine may have been at fault
        assert builds.torch(sha).is_dir()


def test_a_missing_program_is_a_failed_build(mirror: Mirror, upstream: Upstream, tmp_path: Path) -> None:
    sha = commit(upstream, mirror, {"native.cpp": "1\n"})
    cache = NativeBuilds(tmp_path / "builds", ("/no/such/program",), Unconfined(""), 60, 1 << 30)
    with (
        cache.for_shard(mirror, an_environment("default"), lambda: False, lambda word: None) as builds,
        pytest.raises(BuildFailedError, match="cannot be started"),
    ):
        builds.torch(sha)


def test_an_endless_output_keeps_only_its_end(make: Make, upstream: Upstream, mirror: Mirror) -> None:
    sha = commit(upstream, mirror, {"native.cpp": "1\n"})
    script = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 1"
    with make(script) as builds, pytest.raises(BuildFailedError) as caught:
        builds.torch(sha)
    assert caught.value.tail.endswith("line 19999\n")
    assert len(caught.value.tail) <= 8_000


def test_a_build_that_takes_too_long_ends_with_all_its_processes(
    make: Make, upstream: Upstream, mirror: Mirror, tmp_path: Path
) -> None:
    sha = commit(upstream, mirror, {"native.cpp": "1\n"})
    with make("echo begun; sleep 600 & wait", timeout_s=0.5) as builds, pytest.raises(BuildFailedError) as caught:
        builds.torch(sha)
    assert caught.value.reason == "The build did not end within 0.5 s."
    assert caught.value.tail == "begun\n"
    assert names(tmp_path) == []


def test_a_stop_ends_a_build(make: Make, upstream: Upstream, mirror: Mirror, tmp_path: Path) -> None:
    sha = commit(upstream, mirror, {"native.cpp": "1\n"})
    with make("exec >&- 2>&-; sleep 600", stop=lambda: True) as builds, pytest.raises(BuildStoppedError):
        builds.torch(sha)
    assert names(tmp_path) == []


def test_what_a_build_leaves_running_holds_nobody_up(make: Make, upstream: Upstream, mirror: Mirror) -> None:
    sha = commit(upstream, mirror, {"native.cpp": "1\n"})
    with make("sleep 600 &\n" + SCRIPT) as builds:
        assert (builds.torch(sha) / "torch").is_dir()


def test_the_environment_of_a_build_is_made_from_nothing(
    make: Make, upstream: Upstream, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAY_WORKER_TOKEN", "the-token")
    sha = commit(upstream, mirror, {"native.cpp": "1\n"})
    with make(SCRIPT + 'env > "$RELAY_BUILD_OUTPUT/env"\n') as builds:
        lines = (builds.torch(sha) / "env").read_text().splitlines()
    known = {"PATH", "LANG", "HOME", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"}
    names = {line.partition("=")[0] for line in lines}
    assert names - known == {"RELAY_BUILD_SOURCE", "RELAY_BUILD_OUTPUT", "RELAY_BUILD_PYTHON"}


def test_two_workers_build_once(make: Make, upstream: Upstream, mirror: Mirror, tmp_path: Path) -> None:
    sha = commit(upstream, mirror, {"native.cpp": "1\n"})
    found: list[Path] = []

    def work() -> None:
        with builder.builds.for_shard(mirror, builder.environment, lambda: False, said.append) as builds:
            found.append(builds.torch(sha))

    builder, said = make(), list[str]()
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 3
    assert said == [f"building torch at {sha[:12]}"]


def test_the_least_used_builds_are_removed_but_none_in_use(
    make: Make, upstream: Upstream, mirror: Mirror, tmp_path: Path
) -> None:
    shas = [commit(upstream, mirror, {"native.cpp": str(number) * 100}) for number in range(4)]
    with make() as using:
        held = using.torch(shas[0])
        with make() as builds:
            loose, recent = builds.torch(shas[1]), builds.torch(shas[2])
        for path, second in ((held, 1), (loose, 2), (recent, 3)):
            os.utime(path, (second, second))
        with make(limit_bytes=300) as builds:
            newest = builds.torch(shas[3])
        assert names(tmp_path) == sorted(path.name for path in (held, recent, newest))
    (tmp_path / "builds" / f".building-{'a' * 32}").mkdir()
    make(limit_bytes=0).builds.prune()
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [("make torch", ("make", "torch")), ("/b 'one word' \"$HOME\"", ("/b", "one word", "$HOME"))],
)
def test_a_command_is_cut_into_words_and_nothing_is_expanded(text: str, words: tuple[str, ...]) -> None:
    assert parsed_command(text) == words


@pytest.mark.parametrize("text", ["", "  ", "make 'torch"])
def test_a_command_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BuildCommandError, match=r"name the program|quote it as for a shell"):
        parsed_command(text)
