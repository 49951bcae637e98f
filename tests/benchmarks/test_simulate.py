"""The simulation answers as queueing theory does where that has an answer, and the README says what it says."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from relay.queue_views import WorkClass
from tests.benchmarks.simulate import ROWS, Study, percentile, readme_section, replaced, table, usual_study
from tests.benchmarks.simulate_day import HOUR_S, Job, Wish
from tests.benchmarks.simulate_figures import FIGURES, read_figures
from tests.benchmarks.simulate_queue import HEARD_AFTER_S, FallenBehindError, simulate

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
PULL = WorkClass.PULL_REQUEST


@pytest.fixture(scope="module")
def study() -> Study:
    return usual_study()


def erlang_c(servers: int, offered: float) -> float:
    """The share of arrivals that wait (A. K. Erlang, 1917)."""
    busy = offered**servers / math.factorial(servers) * servers / (servers - offered)
    return busy / (sum(offered**n / math.factorial(n) for n in range(servers)) + busy)


@pytest.mark.parametrize(("servers", "load"), [(1, 0.5), (3, 0.7), (8, 0.7)])
def test_random_arrivals_wait_as_erlangs_formula_says(servers: int, load: float) -> None:
    """M/M/c: mean wait C(c, a) / (c mu - lambda)."""
    chance, at, jobs = random.Random(4), 0.0, []  # noqa: S311 - a simulation
    for number in range(8_000):
        at += chance.expovariate(servers * load)
        jobs.append(Job(at, PULL, f"pr {number}", chance.expovariate(1.0), ()))
    outcome = simulate(jobs, servers)
    waited = sum(outcome.verdicts()) / len(jobs) - outcome.busy_s / len(jobs)
    assert waited == pytest.approx(erlang_c(servers, servers * load) / (servers * (1 - load)), rel=0.15)
    assert outcome.busy_s / outcome.ended_s / servers == pytest.approx(load, rel=0.05)


def test_shards_of_a_run_share_the_workers() -> None:
    """The selection first; then as many at once as there are workers. Each worker has the tree to check out once."""
    outcome = simulate([Job(0, PULL, "pr 1", 10, (5, 5, 5, 5), checkout_s=2)], 2)
    assert outcome.verdicts() == [2 + 10 + 2 + 5 + 5]
    assert outcome.busy_s == 2 + 10 + 4 * 5 + 2


def test_a_newer_push_takes_the_place_of_the_older() -> None:
    """Its workers hear of that, and nothing else of it is begun."""
    jobs = [Job(0, PULL, "pr 1", 1, (100, 100, 100)), Job(50, PULL, "pr 1", 1, (1,))]
    with_it, without = simulate(jobs, 1), simulate(jobs, 1, supersede=False)
    assert [served.verdict_s for served in with_it.served] == [None, HEARD_AFTER_S + 2]
    assert with_it.busy_s == 50 + HEARD_AFTER_S + 2
    assert len(without.verdicts()) == 2
    assert without.busy_s == 303


def test_merged_changes_go_first() -> None:
    jobs = [Job(0, PULL, "pr 1", 10, ()), Job(1, PULL, "pr 2", 10, ()), Job(2, WorkClass.MERGED, "main", 10, ())]
    assert simulate(jobs, 1).verdicts(WorkClass.MERGED) == [18]


def test_too_many_before_the_workers_is_said() -> None:
    with pytest.raises(FallenBehindError, match="1 workers have 6 runs"):
        simulate([Job(n, PULL, f"pr {n}", 1_000, ()) for n in range(20)], 1, most_waiting=5)


def test_a_day_has_the_hours_of_the_history_and_comes_again_by_its_seed(study: Study) -> None:
    jobs = study.day.jobs(study.wish)
    assert jobs == study.day.jobs(study.wish) != study.day.jobs(replace(study.wish, seed=2))
    hours = Counter(int(job.at // HOUR_S) for job in jobs)
    assert hours[(study.day.busiest_hour - study.day.first_hour) % 24] > 3 * hours[0]
    assert {job.work_class for job in jobs} == set(WorkClass)
    usual, burst = (study.day.jobs(Wish(burst=count)) for count in (0, 60))
    assert len(usual) == pytest.approx(1_500, rel=0.03)
    assert len([job for job in burst if job.work_class is WorkClass.MERGED]) == 60 + read_figures().merged_per_day


def test_shards_hold_the_seconds_of_their_plan(study: Study) -> None:
    """Whatever the product cuts: all tests of everything, and what each shard pays beside them, in shards of a size."""
    figures = read_figures()
    (nightly,) = (job for job in study.day.jobs(study.wish) if job.work_class is WorkClass.NIGHTLY)
    tests = sum(seconds for _, seconds in figures.everything.files.values())
    assert tests < sum(nightly.shards) < 2 * tests + sum(figures.beside_s.values()) * len(nightly.shards)
    assert len(nightly.shards) >= sum(count for count, _ in figures.everything.files.values()) / 200


def test_more_workers_wait_less_and_a_burst_more(study: Study) -> None:
    small = replace(study, wish=Wish(per_day=300))
    few, many, burst = small.of(2), small.of(4), small.of(4, burst=60)
    assert percentile(few.verdicts(PULL), 95) > percentile(many.verdicts(PULL), 95)
    assert percentile(burst.verdicts(WorkClass.MERGED), 95) > percentile(many.verdicts(WorkClass.MERGED), 95)


def test_ranks_are_the_nearest() -> None:
    values = [float(n) for n in range(1, 101)]
    assert [percentile(values, share) for share in (50, 95, 100)] == [50, 95, 100]
    assert (percentile([7.0], 95), percentile([], 95)) == (7.0, 0.0)


def test_every_figure_says_how_it_was_measured() -> None:
    for name, figure in json.loads(FIGURES.read_text(encoding="utf-8")).items():
        assert set(figure) == {"how", "value"}, name
        assert len(figure["how"].split()) > 5, name


def test_the_readme_has_this_table(study: Study) -> None:
    """Its cheapest row stands for the others: what changes one changes all. `make capacity` writes it."""
    *_, row = table(study, ROWS[-1:])
    assert row in README.splitlines()
    assert all(f"\n| {workers} | " in README for workers in ROWS)


def test_the_section_is_put_between_its_marks() -> None:
    marked = "a\n<!-- capacity: written by `make capacity` -->\nold\n<!-- end of capacity -->\nb\n"
    assert replaced(marked, "new").split("\n\n")[1] == "new"
    assert "old" not in replaced(marked, "new")
    with pytest.raises(ValueError, match="not found"):
        replaced("nothing", "new")


def test_the_section_tells_all(study: Study) -> None:
    """On a day that is quickly simulated."""
    *rows, told = readme_section(replace(study, wish=Wish(per_day=100, burst=3))).split("\n\n")
    assert len(rows[0].splitlines()) == 2 + len(ROWS)
    assert re.search(r"take [12] workers, and \d+ with the burst", " ".join(told.split()))
