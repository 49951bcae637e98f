"""The README's reference of commands is the one that the commands make."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from relay.cli.reference import BEGIN, END, NoMarks, main, placed_in, reference
from relay.cli.root import build
from tests.relay.cli.tree import commands

README = Path(__file__).parents[3] / "README.md"


def test_the_readme_is_up_to_date() -> None:
    """When it is not: `make reference`."""
    document = README.read_text(encoding="utf-8")
    assert placed_in(document) == document, "run `make reference`"


def test_every_command_and_every_option_is_in_it() -> None:
    """Groups stand for their commands; what is hidden stays so."""
    text = reference()
    leaves = [(path, it) for path, it in commands(build()) if not getattr(it, "commands", None)]
    assert [path for path, _ in leaves if f"| `relay {' '.join(path)}" not in text] == []
    shown = [option for _, it in leaves for option in it.params if not getattr(option, "hidden", False)]
    options = {name for option in shown for name in option.opts if name.startswith("--")}
    assert "--rings" not in text
    assert [name for name in options - {"--help"} if f"`{name}`" not in text] == []


def test_it_is_written_between_the_marks_only(tmp_path: Path) -> None:
    """What people wrote around it stays, and writing it twice changes nothing."""
    file = tmp_path / "README.md"
    file.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    for _ in range(2):
        assert main([str(file)]) == 0
        assert file.read_text() == f"before\n{BEGIN}\n\n{reference()}\n\n{END}\nafter\n"


def test_a_file_without_marks_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "README.md"
    file.write_text("text\n")
    with pytest.raises(NoMarks):
        placed_in("text")
    assert main([str(file)]) == 1
    assert file.read_text() == "text\n"
    assert BEGIN in capsys.readouterr().err


def test_the_command_in_the_mark_works() -> None:
    """It is what a reader copies; without a file it says how it is used."""
    done = subprocess.run([sys.executable, "-m", "relay.cli.reference"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "usage: python -m relay.cli.reference README.md\n")
