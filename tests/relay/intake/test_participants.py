"""Which devices a change is tested on, by what the allowlist says of the backends that stand for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.app import create_context
from relay.intake.participants import devices_for_changes
from relay.settings import RelaySettings

NIGHTLY_ONLY = "L2:\n  - acme/quartz: {events: [nightly], oncalls: [n]}\n"


@pytest.mark.parametrize(
    ("listed", "taking_part"),
    [
        (NIGHTLY_ONLY, ("spyre",)),
        ("L2:\n  - Acme/Quartz\n", ("spyre", "quartz")),
        ("L2:\n  - acme/basalt\n", ("spyre", "quartz")),
        ("L2: [\n", ("spyre", "quartz")),
        (None, ("spyre", "quartz")),
    ],
)
def test_only_a_list_that_says_so_keeps_a_device_out(
    settings: RelaySettings, tmp_path: Path, listed: str | None, taking_part: tuple[str, ...]
) -> None:
    (tmp_path / "spyre.yaml").write_text("device: spyre\npackage: workers.spyre\n")
    (tmp_path / "quartz.yaml").write_text("device: quartz\npackage: workers.spyre\nallowlist: acme/quartz\n")
    more = {"backends": f"{tmp_path / 'spyre.yaml'}, {tmp_path / 'quartz.yaml'}"}
    if listed is not None:
        (tmp_path / "allowlist.yml").write_text(listed)
        more["allowlist_url"] = f"file:{tmp_path / 'allowlist.yml'}"
    context = create_context(settings.model_copy(update=more))
    assert devices_for_changes(context) == taking_part
    context.close()
