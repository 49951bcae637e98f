"""Lanes stand where their time was, say what they show, and stay in their width."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from relay.runs.shard_history import Ending, Lane, Phase, Span
from relay.web.shard_timeline import LANES_CAP, TimeLine, time_line
from tests.relay.stories import START


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def span(
    phase: Phase, begin: float, end: float | None, *, ending: Ending = Ending.NEXT, why: str = "", worker: str = "w"
) -> Span:
    return Span(phase, after(begin), None if end is None else after(end), 1, worker, ending, why)


def drawn(*lanes: Lane, end: float = 100) -> TimeLine:
    found = time_line(lanes, START, after(end))
    assert found is not None
    return found


def test_a_bar_stands_where_its_time_was() -> None:
    lane = Lane(7, 1, (span(Phase.WAITING, 10, 25), span(Phase.STARTING, 25, 50), span(Phase.RUNNING, 50, None)))
    (found,) = drawn(lane).lanes
    assert [(bar.x, bar.width) for bar in found.bars] == [(10, 15), (25, 25), (50, 50)]
    assert (found.waited, found.worked) == ("15 s", "1 min 15 s")
    assert found.label == (
        "Shard 7: waiting for 15 s, from 10 s on, attempt 1 by w; starting for 25 s, from 25 s on, attempt 1 by w; "
        "running for 50 s so far, from 50 s on, attempt 1 by w"
    )


def test_a_lease_that_ended_without_its_work_is_marked_and_says_why() -> None:
    lost = span(Phase.RUNNING, 0, 60, ending=Ending.LOST, why="no heartbeat from w")
    given_back = span(Phase.STARTING, 0, 30, ending=Ending.GIVEN_BACK, why="no heartbeat")
    found = drawn(Lane(1, 1, (lost,)), Lane(2, 2, (given_back,)))
    assert [bar.lost for lane in found.lanes for bar in lane.bars] == [True, True]
    assert found.losses
    assert found.lanes[0].label.endswith("; lost: no heartbeat from w")
    assert found.lanes[1].label.endswith("; given back: no heartbeat")


def test_a_shard_that_was_called_off_while_it_waited_lost_no_work() -> None:
    called_off = span(Phase.WAITING, 0, 30, ending=Ending.LOST, why="called off", worker="")
    found = drawn(Lane(1, 1, (called_off,)))
    assert not found.losses
    assert not found.lanes[0].bars[0].lost
    assert found.lanes[0].label == "Shard 1: waiting for 30 s, from the start on; called off"


def test_what_was_not_reached_has_a_lane_without_bars() -> None:
    found = drawn(Lane(1, 0, (span(Phase.SELECTING, 0, 5),)), Lane(2, 1, ()))
    assert found.lanes[1].label == "Shard 2: not reached"
    assert (found.lanes[1].waited, found.lanes[1].worked) == ("\N{EN DASH}", "\N{EN DASH}")


def test_there_is_no_picture_before_anything_happened() -> None:
    assert time_line([Lane(1, 0, ())], START, after(5)) is None
    assert time_line([Lane(1, 0, (span(Phase.WAITING, 0, None),))], START, START) is None
    assert time_line([], START, after(5)) is None


def test_moments_are_round_and_few() -> None:
    lane = Lane(1, 0, (span(Phase.WAITING, 0, None),))
    for seconds, words in (
        (9, "0 2 s 4 s 6 s 8 s"),
        (100, "0 30 s 1 min 1.5 min"),
        (543, "0 2 min 4 min 6 min 8 min"),
        (5 * 3_600, "0 1 h 2 h 3 h 4 h 5 h"),
        (20 * 86_400, "0 4 d 8 d 12 d 16 d 20 d"),
    ):
        assert " ".join(tick.word for tick in drawn(lane, end=seconds).ticks) == words


def test_of_very_many_shards_the_first_are_drawn_and_all_can_be_asked_for() -> None:
    lanes = [Lane(number, number, (span(Phase.WAITING, 0, None),)) for number in range(1, LANES_CAP + 6)]
    found = drawn(*lanes)
    assert found.more == 5
    assert found.of(LANES_CAP + 5) is not None
    assert found.of(999) is None


def test_the_legend_names_what_is_there() -> None:
    found = drawn(Lane(1, 0, (span(Phase.WAITING, 0, 1), span(Phase.SELECTING, 1, 2))))
    assert found.phases == (Phase.WAITING, Phase.SELECTING)


def test_a_long_name_of_a_worker_is_cut() -> None:
    (lane,) = drawn(Lane(1, 0, (span(Phase.SELECTING, 0, 1, worker="w" * 500),))).lanes
    assert len(lane.worker) == 60
    assert "w" * 61 not in lane.label


@given(st.lists(st.tuples(st.floats(-50, 200), st.floats(0, 200)), min_size=1, max_size=20), st.floats(0.001, 10**8))
def test_nothing_leaves_its_width_whatever_clocks_say(told: list[tuple[float, float]], end: float) -> None:
    spans = tuple(span(Phase.RUNNING, begin, begin + took) for begin, took in told)
    found = drawn(Lane(1, 1, spans), end=end)
    for bar in found.lanes[0].bars:
        assert bar.x >= 0
        assert bar.width > 0
        assert bar.end <= 100.000001
    assert len(found.ticks) <= 7
    assert all(0 <= tick.at <= 100.000001 for tick in found.ticks)
