"""The picture of a funnel says the counts, narrows where a stage leaves something out, and stays in its frame."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relay.contract import FunnelStep
from relay.web.funnel_picture import WIDTH, Band, funnel_picture


def step(stage: int, entered: int, left: int, unit: str = "tests") -> FunnelStep:
    return FunnelStep(stage=stage, name="x", entered=entered, left=left, unit=unit, summary="")


def corners(band: Band) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (point.split(",") for point in band.points.split())]


def widths(band: Band) -> tuple[float, float]:
    """At its top and at its foot."""
    points = corners(band)
    return points[-1][0] - points[0][0], points[4][0] - points[3][0]


def test_stages_of_one_unit_are_one_stream_and_another_unit_begins_anew() -> None:
    found = funnel_picture([step(1, 5, 3, "changed files"), step(2, 20_000, 900), step(3, 900, 90), step(4, 90, 30)])
    assert [text.words.replace("\N{NARROW NO-BREAK SPACE}", "") for text in found.counts] == [
        *("5 changed files", "3 changed files", "20000 tests", "900 tests", "90 tests", "30 tests")
    ]
    _, second, third, last = found.bands
    assert widths(second)[1] == widths(third)[0] > widths(third)[1] == widths(last)[0] > widths(last)[1]
    assert [band.name for band in found.bands] == ["1 change", "2 ownership", "3 triage", "4 manifests"]
    assert found.bands[2].loss == "\N{MINUS SIGN}810"


def test_the_text_alternative_names_every_stage_with_both_counts() -> None:
    found = funnel_picture([step(1, 5, 3, "changed files"), step(2, 50, 40)])
    assert "Stage 1, change: 3 of 5 changed files left it" in found.label
    assert "Stage 2, ownership: 40 of 50 tests left it" in found.label


def test_where_nothing_is_left_the_funnel_ends_in_a_point() -> None:
    (band,) = funnel_picture([step(4, 12, 0)]).bands
    assert widths(band)[1] == 0
    assert widths(band)[0] > 0


def test_a_stage_that_leaves_nothing_out_names_no_loss() -> None:
    assert funnel_picture([step(2, 12, 12)]).bands[0].loss == ""


def test_a_long_unit_is_cut_in_the_picture_and_whole_in_the_words() -> None:
    found = funnel_picture([step(1, 1, 1, "u" * 400)])
    assert all(len(text.words) < 30 for text in found.counts)
    assert "u" * 400 in found.label


@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.integers(0, 10**7), st.integers(0, 10**7), st.sampled_from(["tests", "files"])),
        min_size=1,
        max_size=6,
    )
)
def test_nothing_leaves_the_frame_whatever_is_told(told: list[tuple[int, int, int, str]]) -> None:
    found = funnel_picture([step(*one) for one in told])
    for band in found.bands:
        for x, y in corners(band):
            assert 0 <= x <= WIDTH
            assert 0 <= y <= found.height
    assert all(0 < text.y <= found.height for text in found.counts)
