"""Fetching a change from a real repository, and what a hostile one cannot do."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.workers.small_upstream import Upstream, new_upstream
from workers.upstream.checkout import Mirrors, checked_out
from workers.upstream.git import GitError
from workers.upstream.work_trees import WorkTrees


def test_head_and_merge_base_are_checked_out_and_removed(upstream: Upstream, tmp_path: Path) -> None:
    """The tested base is the merge base, not the tip of the base branch."""
    fork_point = upstream.commit({"a.py": "old\n"})
    upstream.git("checkout", "--quiet", "-b", "feature")
    head = upstream.commit({"a.py": "new\n"})
    upstream.git("checkout", "--quiet", "main")
    tip = upstream.commit({"b.py": "later\n"})
    with checked_out(Mirrors(tmp_path / "m"), upstream.change(tip, head), tmp_path / "shard") as checkout:
        assert checkout.base_sha == fork_point
        assert (checkout.head() / "a.py").read_text() == "new\n"
        assert (checkout.base() / "a.py").read_text() == "old\n"
        assert not (checkout.base() / "b.py").exists()
    assert not (tmp_path / "shard" / "head").exists()
    assert not (tmp_path / "shard" / "base").exists()


def test_a_commit_no_branch_holds_is_fetched_by_its_ref_or_its_id(upstream: Upstream, tmp_path: Path) -> None:
    base = upstream.commit({"a.py": "1\n"})
    heads = []
    for content in ("2\n", "3\n"):
        heads.append(upstream.commit({"a.py": content}))
        upstream.git("update-ref", f"refs/pull/{len(heads)}/head", heads[-1])
        upstream.git("reset", "--quiet", "--hard", base)
    upstream.git("update-ref", "-d", "refs/pull/2/head")
    mirrors = Mirrors(tmp_path / "m")
    for head, ref, content in ((heads[0], "refs/pull/1/head", "2\n"), (heads[1], "refs/pull/2/head", "3\n")):
        change = upstream.change(base, head, fetch_ref=ref)
        with checked_out(mirrors, change, tmp_path / head) as checkout:
            assert (checkout.head() / "a.py").read_text() == content


def test_a_ref_that_moved_on_does_not_matter(upstream: Upstream, tmp_path: Path) -> None:
    base = upstream.commit({"a.py": "1\n"})
    head = upstream.commit({"a.py": "2\n"})
    upstream.git("update-ref", "refs/pull/1/head", upstream.commit({"a.py": "3\n"}))
    change = upstream.change(base, head, fetch_ref="refs/pull/1/head")
    with checked_out(Mirrors(tmp_path / "m"), change, tmp_path / "shard") as checkout:
        assert (checkout.head() / "a.py").read_text() == "2\n"


def test_a_second_shard_needs_no_upstream(upstream: Upstream, tmp_path: Path) -> None:
    """What the mirror has is not fetched again, so an unreachable upstream does not stop a test shard."""
    base, head = upstream.commit({"a": "1"}), upstream.commit({"a": "2"})
    change, mirrors = upstream.change(base, head), Mirrors(tmp_path / "m")
    with checked_out(mirrors, change, tmp_path / "one"):
        pass
    upstream.path.rename(tmp_path / "gone")
    with checked_out(mirrors, change, tmp_path / "two") as checkout:
        assert (checkout.head() / "a").read_text() == "2"


def test_an_unknown_commit_is_an_error_with_a_hint(upstream: Upstream, tmp_path: Path) -> None:
    base = upstream.commit({"a": "1"})
    with (
        pytest.raises(GitError, match=r"Commit bbbbbbbbbbbb cannot be fetched.*Check that the commit still exists"),
        checked_out(Mirrors(tmp_path / "m"), upstream.change(base, "b" * 40), tmp_path / "shard"),
    ):
        pass


def test_unrelated_histories_are_an_error_with_a_hint(upstream: Upstream, tmp_path: Path) -> None:
    base = upstream.commit({"a": "1"})
    upstream.git("checkout", "--quiet", "--orphan", "other")
    head = upstream.commit({"a": "2"})
    with (
        pytest.raises(GitError, match="no common history"),
        checked_out(Mirrors(tmp_path / "m"), upstream.change(base, head), tmp_path / "shard"),
    ):
        pass


@pytest.mark.parametrize(
    "fields",
    [
        {"clone_url": "ext::sh -c 'touch {proof}'"},
        {"fetch_ref": "--upload-pack=touch {proof};"},
        {"clone_url": "--upload-pack=touch {proof}"},
    ],
)
def test_a_hostile_change_is_refused_before_git_runs(
    upstream: Upstream, tmp_path: Path, fields: dict[str, str]
) -> None:
    base, head = upstream.commit({"a": "1"}), upstream.commit({"a": "2"})
    proof = tmp_path / "proof"
    hostile = {name: value.format(proof=proof) for name, value in fields.items()}
    with (
        pytest.raises(GitError),
        checked_out(Mirrors(tmp_path / "m"), upstream.change(base, head, **hostile), tmp_path),
    ):
        pass
    assert not proof.exists()


def test_no_hook_runs(upstream: Upstream, tmp_path: Path) -> None:
    """Not even a hook somebody put into the mirror itself."""
    base, head = upstream.commit({"a": "1"}), upstream.commit({"a": "2"})
    mirrors, proof = Mirrors(tmp_path / "m"), tmp_path / "proof"
    hooks = mirrors.open(str(upstream.path)).git.repository / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {proof}\n")
    (hooks / "post-checkout").chmod(0o755)
    with checked_out(mirrors, upstream.change(base, head), tmp_path / "shard") as checkout:
        checkout.head()
    assert not proof.exists()


def test_a_filter_named_by_the_tree_does_not_run(upstream: Upstream, tmp_path: Path) -> None:
    """`.gitattributes` of the change may name a filter; only a configuration could define one, and none does."""
    base = upstream.commit({"a": "1"})
    head = upstream.commit({".gitattributes": "* filter=lfs\n", "a": "2"})
    with checked_out(Mirrors(tmp_path / "m"), upstream.change(base, head), tmp_path / "shard") as checkout:
        assert (checkout.head() / "a").read_text() == "2"


def test_processes_share_a_mirror(upstream: Upstream, tmp_path: Path) -> None:
    """Several shards of one change at once, from a mirror that does not exist yet."""
    base, head = upstream.commit({"a": "1"}), upstream.commit({"a": "2"})
    seen: list[str] = []

    def work(number: int) -> None:
        change = upstream.change(base, head)
        with checked_out(Mirrors(tmp_path / "m"), change, tmp_path / f"shard{number}") as checkout:
            seen.append((checkout.head() / "a").read_text() + (checkout.base() / "a").read_text())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert seen == ["21"] * 4


def test_each_clone_url_has_a_mirror_of_its_own(upstream: Upstream, tmp_path: Path) -> None:
    other = new_upstream(tmp_path / "other")
    mirrors = Mirrors(tmp_path / "m")
    assert mirrors.open(str(upstream.path)).git.repository != mirrors.open(str(other.path)).git.repository


def test_kept_trees_are_shared_and_stay(upstream: Upstream, tmp_path: Path) -> None:
    base, head = upstream.commit({"a.py": "old\n"}), upstream.commit({"a.py": "new\n"})
    mirrors, kept = Mirrors(tmp_path / "m"), WorkTrees(tmp_path / "trees")
    change = upstream.change(base, head)
    with (
        checked_out(mirrors, change, tmp_path / "one", kept) as one,
        checked_out(mirrors, change, tmp_path / "two", kept) as two,
    ):
        assert one.head() == two.head()
        assert (one.head() / "a.py").read_text() == "new\n"
        assert (one.base() / "a.py").read_text() == "old\n"
        made = one.head().stat().st_ino
    mirrors.prune()
    with checked_out(mirrors, change, tmp_path / "three", kept) as three:
        assert three.head().stat().st_ino == made
        assert not (tmp_path / "three").exists()


def test_a_kept_tree_whose_making_failed_is_made_again(upstream: Upstream, tmp_path: Path) -> None:
    base, head = upstream.commit({"a.py": "old\n"}), upstream.commit({"a.py": "new\n"})
    kept = WorkTrees(tmp_path / "trees")
    with checked_out(Mirrors(tmp_path / "m"), upstream.change(base, head), tmp_path / "shard", kept) as checkout:
        lock = Path(f"{checkout.repository}/worktrees")
        lock.write_text("in the way")
        with pytest.raises(GitError):
            checkout.head()
        lock.unlink()
        assert (checkout.head() / "a.py").read_text() == "new\n"
