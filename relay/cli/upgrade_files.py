"""The files of `relay upgrade`: the report as a page, as Markdown, as JSON, and the patch. Each is there whole or not
at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from relay.cli import upgrade_text
from relay.cli.output import Output
from relay.cli.report_file import ReportUnwritable, write_report
from relay.cli.report_text import report_unwritable_hint
from relay.cli.upgrading import MadeReport
from relay.upgrade.html import to_html
from relay.upgrade.markdown import to_markdown
from relay.upgrade.writing import report_json
from selector.upgrade.types import UpgradeReport

_Form = Callable[[UpgradeReport], bytes]


def _page(report: UpgradeReport) -> bytes:
    return to_html(report).encode()


def _text(report: UpgradeReport) -> bytes:
    return to_markdown(report).encode()


#: What is written for each end of a file's name.
KINDS: dict[str, _Form] = {".html": _page, ".md": _text, ".json": report_json}


def check_folders(names: Sequence[str]) -> None:
    """See before the trees are compared that there is a folder for each file. Raises `ReportUnwritable`."""
    for name in names:
        if name != "-" and not Path(name).absolute().parent.is_dir():
            raise ReportUnwritable(upgrade_text.no_folder_for(name), report_unwritable_hint())


def write_all(out: Output, made: MadeReport, reports: Sequence[str], patch: str | None) -> None:
    """The report into every file, by its name's end and as JSON where that says nothing. Raises `ReportUnwritable`."""
    for name in reports:
        write_report([KINDS.get(Path(name).suffix.lower(), report_json)(made.report)], name)
        out.note(upgrade_text.written("the report", name))
    if patch is None:
        return
    if not made.patch:
        out.note(upgrade_text.nothing_to_patch())
        return
    write_report([made.patch.encode()], patch)
    out.note(upgrade_text.written("the patch", patch))
