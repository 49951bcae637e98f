"""What happens to a shard, as lines for people."""

from __future__ import annotations

from relay.contract import LOG_TEXT_CAP, LogKind, LogLine, Observation, Tree
from workers.runner.types import Collection, TestOutcome
from workers.shards.log_lines import BLOCK_LINES, of_collection, of_outcome, of_step

ID = "test/test_a.py::TestASPYRE::test_1"
F = Observation.FAILED


def outcome(observation: Observation, detail: str = "", output: str = "") -> TestOutcome:
    return TestOutcome(ID, observation, 1.5, detail, output=output)


def test_a_test_that_passed_is_one_line() -> None:
    assert list(of_outcome(outcome(Observation.PASSED), Tree.HEAD, 1, expected=True)) == [
        (LogKind.TEST, f"passed       1.500 s  {ID}")
    ]


def test_a_failure_shows_its_message_and_what_it_printed() -> None:
    lines = list(of_outcome(outcome(F, "assert 1 == 2\nat line 7", "\nhello\nworld\n"), Tree.HEAD, 1, expected=False))
    assert lines == [
        (LogKind.FAILURE, f"failed       1.500 s  {ID}"),
        (LogKind.OUTPUT, "    assert 1 == 2"),
        (LogKind.OUTPUT, "    at line 7"),
        (LogKind.OUTPUT, "    it printed:"),
        (LogKind.OUTPUT, "    hello"),
        (LogKind.OUTPUT, "    world"),
    ]


def test_what_is_expected_to_fail_is_no_failure_and_no_wall_of_text() -> None:
    lines = list(of_outcome(outcome(F, "assert 1 == 2\nat line 7", "much"), Tree.HEAD, 1, expected=True))
    assert lines == [(LogKind.TEST, f"failed       1.500 s  {ID}, as expected: assert 1 == 2 at line 7")]


def test_base_and_further_tries_are_named() -> None:
    (on_base,) = of_outcome(outcome(F, "no"), Tree.BASE, 2, expected=False)
    assert on_base == (LogKind.TEST, f"failed       1.500 s  {ID} on base (try 2): no")


def test_a_crash_is_told_wherever_it_happens() -> None:
    kinds = [
        kind for kind, _ in of_outcome(outcome(Observation.CRASHED, "killed by SIGSEGV"), Tree.BASE, 1, expected=False)
    ]
    assert kinds == [LogKind.TEST, LogKind.OUTPUT]


def test_the_beginning_and_the_end_of_a_long_output_stay() -> None:
    text = "\n".join(f"line {number}" for number in range(1_000))
    lines = [text for kind, text in of_outcome(outcome(F, text), Tree.HEAD, 1, expected=False)][1:]
    assert len(lines) == BLOCK_LINES + 1
    assert (lines[0], lines[-1]) == ("    line 0", "    line 999")
    assert lines[BLOCK_LINES // 2] == "    [800 lines are left out here]"


def test_nothing_in_a_line_is_obeyed_by_a_terminal() -> None:
    hostile = "\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link \x9b2J\x07bell\tand a tab\x00"
    ((_, text),) = of_step(hostile)
    assert (
        text == "red link \N{REPLACEMENT CHARACTER}2J\N{REPLACEMENT CHARACTER}bell\tand a tab\N{REPLACEMENT CHARACTER}"
    )
    ((_, progress),) = of_step("10 %\r20 %\r\n")
    assert progress == "20 %"


def test_every_line_fits_the_contract() -> None:
    wild = "x" * 10_000 + "\ud800\n" + "\0" * 10
    for kind, text in of_outcome(outcome(F, wild, wild), Tree.HEAD, 1, expected=False):
        assert len(LogLine(at=0, kind=kind, text=text).text) <= LOG_TEXT_CAP
        text.encode()
        assert "\n" not in text


def test_a_file_is_collected_or_says_why_not() -> None:
    file = "test/test_a.py"
    assert list(of_collection(file, Collection(()), Tree.HEAD)) == [
        (LogKind.TEST, "collected 0 tests of test/test_a.py")
    ]
    broken = list(of_collection(file, Collection((), "ImportError: no\nline 2"), Tree.HEAD))
    assert broken[0] == (LogKind.FAILURE, "not collected, or only in part (0 tests): test/test_a.py")
    assert [text for _, text in broken[1:]] == ["    ImportError: no", "    line 2"]
    assert next(of_collection(file, Collection((), "no"), Tree.BASE))[0] is LogKind.TEST
