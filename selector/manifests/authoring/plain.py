"""Writes plain data as a manifest's YAML: no anchors, lists indented below their keys as people write them.

PyYAML writes what PyYAML reads, so a text that looks like a number or like `no` comes back as the text it was.
"""

from __future__ import annotations

from typing import Any

import yaml

WIDTH = 120


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """PyYAML would put the items of a list below a key into the key's own column."""
        del indentless
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:
        """Equal parts are written out: a plain manifest is read without following anchors."""
        del data
        return True


def canonical(data: object) -> str:
    """A text that is equal for equal data, whatever the order of keys and the sharing of parts."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=True)


def write_plain(data: object, comment: str = "") -> str:
    """The data as YAML text, under comment lines. Keys keep their order."""
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=WIDTH, allow_unicode=True)
    head = "".join(f"# {line}".rstrip() + "\n" for line in comment.splitlines())
    return f"{head}{text}"
