"""What is left behind by dead processes is removed, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.workers.full_disk import disk_to_fill
from tests.workers.small_upstream import Upstream
from workers.upstream.checkout import checked_out
from workers.workspace import NoRoomError, Workspace

_KILLED_WORKER = """
import os, signal, sys
from pathlib import Path
from workers.workspace import NoRoomError, Workspace
with Workspace(Path(sys.argv[1])).shard_folder(7) as folder:
    (folder / "half.txt").write_text("half")
    print(folder.name, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_shard_folder_is_gone_after_the_shard(tmp_path: Path) -> None:
    with Workspace(tmp_path).shard_folder(3) as folder:
        (folder / "x").write_text("x")
    assert not folder.exists()


def test_the_folder_of_a_killed_worker_is_removed(tmp_path: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED_WORKER, str(tmp_path)], capture_output=True, text=True, check=False
    )
    left = killed.stdout.strip()
    assert (tmp_path / "shards" / left / "half.txt").exists()
    assert Workspace(tmp_path).remove_leftovers() == (left,)
    assert not (tmp_path / "shards" / left).exists()


def test_the_folder_of_a_living_worker_stays(tmp_path: Path) -> None:
    with Workspace(tmp_path).shard_folder(3) as folder:
        assert Workspace(tmp_path).remove_leftovers() == ()
        assert folder.exists()


def test_work_trees_of_removed_folders_are_forgotten(upstream: Upstream, tmp_path: Path) -> None:
    base, head = upstream.commit({"a": "1"}), upstream.commit({"a": "2"})
    workspace = Workspace(tmp_path / "work")
    change = upstream.change(base, head)
    with checked_out(workspace.mirrors, change, workspace.shards / "dead") as checkout:
        checkout.head()
        git = checkout.mirror.git
        workspace.remove_leftovers()
        assert str(workspace.shards / "dead") not in git.text("worktree", "list")


def test_room_is_looked_for_by_writing(tmp_path: Path) -> None:
    """Nothing stays behind, whether there is room or not."""
    space = Workspace(tmp_path / "work")
    space.check_room()
    with disk_to_fill() as disk:
        disk.fill()
        with pytest.raises(NoRoomError, match="takes nothing more"):
            space.check_room()
    space.check_room()
    assert list((tmp_path / "work").iterdir()) == []
