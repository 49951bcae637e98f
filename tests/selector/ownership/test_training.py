"""Weights are learned from examples, towards the prior, the same every time; the shipped ones can be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from selector.ownership.model import STANDS_ALONE, Model, WeightsError, read_model, shipped_model
from selector.ownership.signals import HISTORY_SIGNALS, RULE_SIGNALS, SIGNALS, Signal
from selector.ownership.training import PRIOR_WEIGHTS, Example, cross_validated, document, fit, main, read_examples


def example(number: int, signal: str = "code in tests") -> Example:
    """A change that broke the one file of twenty that has the signal; all files share a useless one."""
    files = {f"test/test_{other}.py": {"paths in tests": 0.5, "path": 0.0} for other in range(20)}
    files[f"test/test_{number % 20}.py"][signal] = 1.0
    broke = frozenset({f"test/test_{number % 20}.py"})
    return Example(f"case {number:02}", f"2022-01-{number + 1:02}", broke, files)


EXAMPLES = [example(number) for number in range(20)]


def test_every_signal_has_a_prior_and_no_other_has() -> None:
    assert PRIOR_WEIGHTS.keys() == {*SIGNALS, *RULE_SIGNALS}


def test_a_signal_that_tells_is_learned_to_weigh_more_and_one_that_does_not_stays() -> None:
    model = fit(EXAMPLES, history=True)
    assert model.weights["code in tests"] > PRIOR_WEIGHTS["code in tests"]
    assert abs(model.weights["walks packages"] - PRIOR_WEIGHTS["walks packages"]) < 0.01
    assert model.sum({"code in tests": 1.0, "paths in tests": 0.5}) > 0 > model.sum({"paths in tests": 0.5})


def test_a_tenth_of_all_files_stands_alone() -> None:
    files = {f"test/test_{number:02}.py": {"code in tests": number / 100} for number in range(100)}
    model = fit([Example("one", "2022-01-01", frozenset({"test/test_99.py"}), files)], history=True)
    standing = [path for path, signals in files.items() if model.score(signals) >= STANDS_ALONE]
    assert standing == sorted(files)[-11:]


def test_the_probability_counts_how_few_files_break() -> None:
    model = fit(EXAMPLES, history=True)
    signals = {"code in tests": 1.0, "paths in tests": 0.5}
    assert model.prior == pytest.approx(-2.944, abs=0.001)  # 1 of 20
    assert 0 < model.probability(signals) < model.score(signals) < 1


def test_without_a_history_its_signals_have_no_weight() -> None:
    assert fit(EXAMPLES, history=True).weights.keys() >= HISTORY_SIGNALS
    assert not HISTORY_SIGNALS & fit(EXAMPLES, history=False).weights.keys()


def test_no_weight_is_negative() -> None:
    misleading = [
        Example(one.name, one.date, frozenset({"test/test_x.py"}), {**one.files, "test/test_x.py": {}})
        for one in EXAMPLES
    ]
    assert min(fit(misleading * 20, history=True).weights.values()) >= 0


def test_an_example_is_judged_by_a_model_that_has_not_seen_it() -> None:
    odd = example(20, "walks new modules")
    models = cross_validated([*EXAMPLES, odd], 3, history=True)
    unseen = fit([one for place, one in enumerate(EXAMPLES) if place % 3 != 20 % 3], history=True)
    assert models.keys() == {one.name for one in (*EXAMPLES, odd)}
    assert models[odd.name] == unseen


def test_nothing_is_learned_from_nothing() -> None:
    with pytest.raises(ValueError, match="no example"):
        fit([Example("x", "2022-01-01", frozenset({"test/gone.py"}), {"test/test_a.py": {}})], history=True)


def test_the_command_writes_what_the_model_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tmp_path / "examples.jsonl"
    lines = [
        json.dumps({"name": one.name, "date": one.date, "broke": sorted(one.broke), "files": one.files})
        for one in EXAMPLES
    ]
    rows.write_text("\n".join(lines), encoding="utf-8")
    out = tmp_path / "weights.json"
    monkeypatch.setattr("sys.argv", ["training", str(rows), "--out", str(out)])
    assert main() == 0
    assert out.read_text(encoding="utf-8") == document(read_examples(lines))
    assert read_model(out.read_text(encoding="utf-8"), history=False) == fit(EXAMPLES, history=False)


def test_a_file_of_no_examples_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "examples.jsonl"
    rows.write_text('{"name": "x"}\n', encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["training", str(rows), "--out", str(tmp_path / "weights.json")])
    assert main() == 1
    assert "cannot learn from" in capsys.readouterr().err
    assert not (tmp_path / "weights.json").exists()


def test_the_shipped_weights_know_every_signal() -> None:
    with_history, without = shipped_model(history=True), shipped_model(history=False)
    assert with_history.weights.keys() == {*SIGNALS, *RULE_SIGNALS}
    assert without.weights.keys() == with_history.weights.keys() - HISTORY_SIGNALS


def test_damaged_weights_are_one_sentence() -> None:
    for text in ("", "[]", "{}", '{"models": {"with history": {"weights": {"a": "x"}}}}'):
        with pytest.raises(WeightsError, match="train them anew"):
            read_model(text, history=True)


def test_the_strongest_signals_are_named_with_what_they_add() -> None:
    model = Model({"a": 2.0, "b": 1.0, "c": 1.0}, -1.0, -3.0)
    signals = {"a": Signal(0.25, "x"), "b": Signal(1.0, "y"), "c": Signal(1.0, "z"), "d": Signal(9.0, "unknown")}
    assert model.top(signals, 2) == [("b", 1.0), ("c", 1.0)]
