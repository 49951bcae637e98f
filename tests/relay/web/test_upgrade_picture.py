"""The funnel of an upgrade is one shape from its first step to its last, with every count in words."""

from __future__ import annotations

from relay.upgrade.document import FunnelPart
from relay.web.funnel_picture import WIDTH
from relay.web.upgrade_picture import upgrade_funnel


def steps(*found: tuple[str, int, str]) -> list[FunnelPart]:
    return [FunnelPart(name=name, left=left, unit=unit, summary="") for name, left, unit in found]


def test_steps_of_other_units_share_a_scale_and_only_their_own_kind_is_lost() -> None:
    found = upgrade_funnel(
        steps(("all", 90_000, "variants"), ("tests", 900, "tests"), ("to assess it all", 30, "tests"))
    )
    assert found is not None
    assert [text.words.replace("\N{NARROW NO-BREAK SPACE}", "") for text in found.counts] == [
        *("90000 variants", "900 tests", "30 tests")
    ]
    assert [(band.name, band.loss) for band in found.bands] == [("tests", ""), ("to assess it…", "\N{MINUS SIGN}870")]
    assert "to assess it all: 30 tests" in found.label
    corners = [tuple(map(float, point.split(","))) for band in found.bands for point in band.points.split()]
    assert all(0 <= x <= WIDTH and 0 <= y <= found.height for x, y in corners)
    first, second = (band.points.split() for band in found.bands)
    assert first[3].partition(",")[0] == second[0].partition(",")[0], "one ends as wide as the next begins"


def test_there_is_no_picture_of_one_step_and_one_of_nothing_is_a_point() -> None:
    assert upgrade_funnel(steps(("all", 3, "tests"))) is None
    assert (
        upgrade_funnel(steps(("all", 3, "tests"), ("must assess", 1, "tests"), ("should assess", 2, "tests"))) is None
    )
    found = upgrade_funnel(steps(("all", 0, "tests"), ("must", 0, "tests")))
    assert found is not None
    assert {point.partition(",")[0] for point in found.bands[0].points.split()} == {f"{WIDTH / 2:.1f}"}
