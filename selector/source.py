"""Reading Python source text that may be hostile: parsed, never imported or executed.

Owns the one way the stages turn text into a syntax tree or into words, so that all of them fail alike: `None` for
whatever this interpreter cannot parse.
"""

from __future__ import annotations

import ast
import re
import warnings

#: Strings are matched before names so that a `#` inside one starts no comment; comments are matched to be left out.
_TOKEN = re.compile(
    r"""\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\#[^\n]*|[^\W\d]\w*""", re.DOTALL
)
_WORD = re.compile(r"[^\W\d]\w*")


def parse_module(text: str) -> ast.Module | None:
    """The syntax tree, or `None` when the text is no Python of this interpreter or nests too deep for it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in upstream source are not ours to report
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def source_lines(text: str) -> list[str]:
    """Lines numbered as `ast` numbers them; `str.splitlines` would also split at form feeds."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def words(text: str) -> frozenset[str]:
    """Identifiers of source text, those inside strings included (operator names are often strings), comments not."""
    found: set[str] = set()
    for token in _TOKEN.findall(text):
        if token[0] in "\"'":
            found.update(_WORD.findall(token))
        elif token[0] != "#":
            found.add(token)
    return frozenset(found)


def last_part(dotted: str) -> str:
    """`unravel_index` of `torch.functional.unravel_index`."""
    return dotted.rpartition(".")[2]
