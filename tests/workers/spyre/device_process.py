"""Names that the tests of the device share with their fixtures."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[3]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def claims(folder: Path) -> list[str]:
    """The checks in a folder, found by reading the files, since importing them would import torch."""
    return [
        f"{file.stem}::{node.name}"
        for file in sorted(folder.glob("*_checks.py"))
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def run_checks(run_python: Run, folder: Path, report: Path, **variables: str) -> dict[str, str]:
    """Run all checks of a folder in one process; one text per function, empty when all its cases passed."""
    done = run_python(
        *("-m", "pytest", str(folder), "--noconftest", "-p", "no:cacheprovider", "-q"),
        *("-o", "python_files=*_checks.py", f"--junitxml={report}"),
        **variables,
    )
    assert report.exists(), done.stdout + done.stderr
    outcomes: dict[str, str] = {}
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - our own pytest wrote it
        file, (name, _, _) = case.get("classname", "").rpartition(".")[2], case.get("name", "").partition("[")
        problems = "".join(f"{case.get('name')}: {found.get('message')}\n{found.text}\n" for found in case)
        outcomes[f"{file}::{name}"] = outcomes.get(f"{file}::{name}", "") + problems
    return outcomes
