"""The same digest means the same observations: what changes it, and what does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from tests.workers.small_upstream import Upstream
from workers.runner.types import Installation
from workers.shards.base_identity import base_identity, environment_digest, overlay_digest, tree_digest
from workers.upstream.checkout import Mirrors
from workers.upstream.git import Git
from workers.upstream.overlay import Replacement

FILES = {"test/test_a.py": "a\n", "tools/gen.py": "b\n", "torch/_refs.py": "c\n", "functorch/x.py": "d\n"}


@pytest.fixture
def git_of(upstream: Upstream, tmp_path: Path) -> Callable[[str], Git]:
    """The mirror's git with a commit in it."""

    def fetched(sha: str) -> Git:
        mirror = Mirrors(tmp_path / "mirrors").open(str(upstream.path))
        mirror.ensure(upstream.change(sha, sha))
        return mirror.git

    return fetched


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"test/test_b.py": "new\n"}, False),
        ({"test/data/x.bin": b"\0"}, False),
        ({"tools/gen.py": "other\n"}, False),
        ({"README.md": "words\n"}, False),
        ({"torch/_refs.py": "other\n"}, True),
        ({"torch/testing/x.py": "other\n", "functorch/x.py": None, "torchgen/y.py": "other\n"}, True),
        ({}, True),
    ],
)
def test_of_the_tree_all_counts_but_what_the_wheel_ships(
    upstream: Upstream, git_of: Callable[[str], Git], change: dict[str, str | bytes | Path | None], same: bool
) -> None:
    before, after = upstream.commit(FILES), upstream.commit(change)
    assert (tree_digest(git_of(before), before) == tree_digest(git_of(after), after)) is same


def test_what_lies_over_the_wheel_counts_by_content_and_not_by_order() -> None:
    a, b = (Replacement(PurePosixPath(f"torch/{name}.py"), name.encode()) for name in "ab")
    assert overlay_digest([a, b]) == overlay_digest([b, a])
    different = [[], [a], [b], [a, Replacement(b.path, b"c")], [a, Replacement(b.path, None)], [a, b]]
    assert len({overlay_digest(one) for one in different}) == len(different)


def test_the_whole_identity_depends_on_each_part(upstream: Upstream, git_of: Callable[[str], Git]) -> None:
    one, two = upstream.commit(FILES), upstream.commit({"test/test_a.py": "z\n"})
    over = [Replacement(PurePosixPath("torch/a.py"), b"x")]
    git_of(one)
    git = git_of(two)
    made = [base_identity(git, *parts) for parts in ((one, [], "e"), (two, [], "e"), (one, over, "e"), (one, [], "f"))]
    assert len(set(made)) == 4
    assert base_identity(git, one, [], "e") == made[0]


def test_the_environment_counts_whole(tmp_path: Path) -> None:
    """Another torch, neighbour, library, profile, device, Python, confinement or weight is another environment."""
    wheel, library, profile = tmp_path / "site", tmp_path / "device.so", tmp_path / "strict.toml"
    (wheel / "torch").mkdir(parents=True)
    (wheel / "torch" / "version.py").write_text("git_version = 'a'\n")
    library.write_bytes(b"one")
    profile.write_text("one")
    weights = tmp_path / "weights"
    weights.mkdir()
    installation = Installation("spyre", library, Path("/usr/bin/python3"), str(profile), weights=weights)
    seen = [environment_digest(installation, wheel, "bubblewrap")]
    assert environment_digest(installation, wheel, "bubblewrap") == seen[0]
    seen.append(environment_digest(installation, wheel, "none"))
    for change in (
        lambda: (wheel / "torch" / "version.py").write_text("git_version = 'b'\n"),
        (wheel / "numpy-2.0.dist-info").mkdir,
        lambda: library.write_bytes(b"two"),
        lambda: profile.write_text("two"),
        lambda: (weights / "model.safetensors").write_bytes(b"one"),
        lambda: (weights / "model.safetensors").write_bytes(b"other"),
    ):
        change()
        seen.append(environment_digest(installation, wheel, "bubblewrap"))
    for other in (
        Installation("spyre", library, Path("/usr/bin/true"), str(profile)),
        Installation("spyre", library, Path("/usr/bin/python3"), "compat"),
        Installation("spyre", None, Path("/usr/bin/python3"), str(profile)),
        Installation("other", library, Path("/usr/bin/python3"), str(profile)),
    ):
        seen.append(environment_digest(other, wheel, "bubblewrap"))
    assert len(set(seen)) == len(seen)
