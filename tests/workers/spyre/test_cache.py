"""Which file fits this torch: decided by names, and never stale."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from workers.spyre import cache
from workers.spyre.cache import CacheError, candidates, default_cache, library_for


def test_the_name_follows_sources_options_and_torch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each of them gives another library, and a change back gives the first one again."""
    first = library_for(tmp_path, "2.13.0+cpu")
    assert library_for(tmp_path, "2.13.1+cpu") != first
    sources = tmp_path / "native"
    shutil.copytree(cache.SOURCES, sources)
    monkeypatch.setattr(cache, "SOURCES", sources)
    assert library_for(tmp_path, "2.13.0+cpu") == first
    (sources / "more").mkdir()
    (sources / "more" / "memory.h").write_text("// new\n")
    changed = library_for(tmp_path, "2.13.0+cpu")
    assert changed != first
    monkeypatch.setattr(cache, "FLAGS", (*cache.FLAGS, "-O0"))
    assert library_for(tmp_path, "2.13.0+cpu") not in {first, changed}


def test_another_name_of_the_device_is_another_library(tmp_path: Path) -> None:
    spyre, quartz = library_for(tmp_path, "2.13.0+cpu"), library_for(tmp_path, "2.13.0+cpu", "quartz")
    for library in (spyre, quartz):
        library.touch()
    assert {found.device: found.path for found in candidates(tmp_path)} == {"spyre": spyre, "quartz": quartz}
    assert len({found.digest for found in candidates(tmp_path)}) == 2


def test_only_what_is_named_like_a_library_is_one(tmp_path: Path) -> None:
    """The lock and other files are passed over; a cache that is not there is an empty one."""
    library = library_for(tmp_path, "2.13.0+cpu")
    for name in (library.name, ".lock", "libspyre-torch2.13.so", "libspyre-torch2-0123456789abcdeF.so"):
        (tmp_path / name).touch()
    (found,) = candidates(tmp_path)
    assert (found.path, found.torch) == (library, "2.13.0+cpu")
    assert found.digest in library.name
    assert candidates(tmp_path / "absent") == []


def test_the_default_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The variable first, then the user's cache folder; a relative one does not count."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert default_cache() == tmp_path / ".cache/oot-relay/device"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_cache() == tmp_path / ".cache/oot-relay/device"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert default_cache() == tmp_path / "x/oot-relay/device"
    monkeypatch.setenv("RELAY_DEVICE_CACHE", "~/mine")
    assert default_cache() == tmp_path / "mine"


def test_a_user_without_a_home_is_told_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs under a number without a name."""
    monkeypatch.setenv("RELAY_DEVICE_CACHE", "~no-such-user-here/cache")
    with pytest.raises(CacheError, match="set RELAY_DEVICE_CACHE"):
        default_cache()
