"""One relay per state folder, and others of the machine find it; stale files mean nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from relay.machine.state_folder import (
    SERVICE_FILE,
    AlreadyRunning,
    NoStateFolder,
    announce,
    announced_url,
    hold,
    write_private,
)


def test_held_folder_names_its_holder(tmp_path: Path) -> None:
    """The second relay learns who holds the folder, where it is, and what to do."""
    with hold(tmp_path), announce(tmp_path, "http://127.0.0.1:1"):
        with pytest.raises(AlreadyRunning) as refused, hold(tmp_path):
            pass
        assert str(os.getpid()) in refused.value.message
        assert "http://127.0.0.1:1" in refused.value.hint
        assert f"kill {os.getpid()}" in refused.value.hint
    with hold(tmp_path):
        pass


def test_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    """It is the lock that counts, not the file: SIGKILL leaves the file and frees the folder."""
    code = (
        "import sys, time, pathlib\nfrom relay.machine.state_folder import hold\n"
        "with hold(pathlib.Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, text=True)
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(AlreadyRunning, match=str(holder.pid)), hold(tmp_path):
            pass
        holder.send_signal(signal.SIGKILL)
    with hold(tmp_path):
        assert (tmp_path / "relay.lock").read_text() == str(os.getpid())


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """One sentence with the folder in it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(NoStateFolder, match="file/state"), hold(tmp_path / "file" / "state"):
        pass


def test_announced_service_is_found_while_it_is_there(tmp_path: Path) -> None:
    """`service.json` has the agreed form, is private, and is gone at the end."""
    assert announced_url(tmp_path) is None
    with announce(tmp_path, "http://127.0.0.1:8123"):
        file = tmp_path / SERVICE_FILE
        assert json.loads(file.read_text()) == {"url": "http://127.0.0.1:8123", "pid": os.getpid()}
        assert file.stat().st_mode & 0o777 == 0o600
        assert announced_url(tmp_path) == "http://127.0.0.1:8123"
    assert [path.name for path in tmp_path.iterdir()] == []


def test_announcement_of_a_dead_process_is_ignored(tmp_path: Path) -> None:
    """A killed relay leaves its file; nobody is sent there."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    (tmp_path / SERVICE_FILE).write_text(json.dumps({"url": "http://127.0.0.1:8123", "pid": ended.pid}))
    assert announced_url(tmp_path) is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"url": "http://x"}', '{"url": "x", "pid": "many"}', "7"])
def test_announcement_that_is_none(tmp_path: Path, content: str) -> None:
    """A broken file is as good as no file."""
    (tmp_path / SERVICE_FILE).write_text(content)
    assert announced_url(tmp_path) is None


def test_private_file_replaces_a_readable_one(tmp_path: Path) -> None:
    """The mode is that of the new file, and no draft is left."""
    file = tmp_path / "token"
    file.write_text("old")
    file.chmod(0o644)
    write_private(file, "new")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o600)
    assert [path.name for path in tmp_path.iterdir()] == ["token"]
