"""Writes plain data as a manifest's YAML: no anchors, lists indented below their keys as people write them.

PyYAML writes what PyYAML reads, so a text that looks like a number or like `no` comes back as the text it was. The
exceptions are its own and are mended here: breaks of lines other than LF, and what no YAML document can hold.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

WIDTH = 120

# YAML 1.1 breaks lines at these, PyYAML writes them as they are, and libyaml's folding reads them as a blank or as LF.
_FOREIGN_BREAK = re.compile("[\x85\u2028\u2029]")
# Half a character: no encoding of YAML has it, and its escape is refused by the loader.
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# https://yaml.org/spec/1.1/#c-printable says what may stand unescaped, and a comment knows no escapes.
_UNPRINTABLE = re.compile("[^\t\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """PyYAML would put the items of a list below a key into the key's own column."""
        del indentless
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:
        """Equal parts are written out: a plain manifest is read without following anchors."""
        del data
        return True


def _write_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Foreign breaks are escaped, for which double quotes are needed; lone surrogates are replaced."""
    whole = _LONE_SURROGATE.sub(_REPLACEMENT, text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", whole, style='"' if _FOREIGN_BREAK.search(whole) else None)


_Dumper.add_representer(str, _write_text)


def canonical(data: object) -> str:
    """A text that is equal for equal data, whatever the order of keys and the sharing of parts."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=True)


def write_plain(data: object, comment: str = "") -> str:
    """The data as YAML text, under comment lines. Keys keep their order, texts are read back as they were.

    Half a surrogate pair has no form in YAML and becomes U+FFFD; so does what is unprintable in the comment.
    """
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=WIDTH, allow_unicode=True)
    head = "".join(f"# {_UNPRINTABLE.sub(_REPLACEMENT, line)}".rstrip() + "\n" for line in comment.splitlines())
    return f"{head}{text}"
