"""Changes single entries in the text of a manifest and leaves every other character as it is.

Works on the places of YAML nodes, so comments, order, quotes and blank lines stay, and a change is as small in a diff
as it would be by hand. What it can not change without reformatting it refuses, with the line. Knows how a manifest is
laid out and nothing of what it means; callers load the result and compare.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import yaml
from yaml import CSafeLoader

from selector.manifests.authoring.plain import write_plain
from selector.manifests.schema import method_part
from selector.manifests.upstream import upstream_file

_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


class SpliceError(Exception):
    """A text can not be changed without rewriting it; the message says where and what a person can do."""


@dataclass(frozen=True, slots=True)
class Splice:
    """Characters `start` to `end` become `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Entry:
    node: yaml.MappingNode
    keys: Mapping[str, tuple[yaml.Node, yaml.Node]]


@dataclass
class Manuscript:
    """The text of one manifest, and the changes that have been asked for. `text()` makes them all at once."""

    name: str
    original: str
    _splices: list[Splice] = field(default_factory=list, init=False)
    _dropped: dict[str, set[int]] = field(default_factory=dict, init=False)
    _extended: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.original))]
        root = yaml.compose(self.original, Loader=CSafeLoader)
        suite = _keys(root).get("test_suite_config", (root, root))[1]
        files, self._global = _keys(suite).get("files"), _keys(suite).get("global")
        if files is None or not isinstance(files[1], yaml.SequenceNode):
            raise SpliceError(f"{self.name} has no list of files")
        self._files = files[1]

    def text(self) -> str:
        """The text with all changes. Raises SpliceError when two of them meet."""
        pieces: list[str] = []
        done = 0
        removed = [splice for file, entries in self._dropped.items() for splice in self._removal(file, entries)]
        for splice in sorted([*self._splices, *removed], key=lambda splice: (splice.start, splice.end)):
            if splice.start < done:
                raise SpliceError(f"{self.name}: two changes meet in line {self._line(splice.start) + 1}")
            pieces += [self.original[done : splice.start], splice.text]
            done = splice.end
        return "".join([*pieces, self.original[done:]])

    def drop_names(self, file: str, entry: int, methods: Collection[str]) -> bool:
        """Take the names of these methods out of an entry; False when it has no others, and nothing is done."""
        gone = [item.value for item in self._names(file, entry) if method_part(item.value) in methods]
        return self.put_names(file, entry, dict.fromkeys(gone, ()))

    def put_names(self, file: str, entry: int, wanted: Mapping[str, Sequence[str]]) -> bool:
        """Put other names in the place of some, none of them to take one away; False when no name would be left, and
        nothing is done."""
        key, names = self._value(self._entries(file)[entry], "names")
        items = self._names(file, entry)
        if not any(wanted.get(item.value, (item.value,)) for item in items):
            return False
        if names.start_mark.line < key.start_mark.line:
            raise self._refusal(key, "the names are an alias")
        changed = [item for item in items if item.value in wanted]
        if not isinstance(names, yaml.SequenceNode):
            put = [text for item in changed for text in self._put(item, wanted)]
            written = put[0] if len(put) == 1 else f"[{', '.join(put)}]"
            self._splices += [Splice(self._at(names.start_mark), self._at(names.end_mark), written)] if put else []
        elif not names.flow_style:
            self._splices += [splice for item in changed for splice in self._in_lines(item, wanted[item.value])]
        elif changed:
            left = [text for item in items for text in self._put(item, wanted)]
            self._splices.append(Splice(self._at(names.start_mark), self._at(names.end_mark), f"[{', '.join(left)}]"))
        return True

    def _names(self, file: str, entry: int) -> Sequence[yaml.Node]:
        _, names = self._value(self._entries(file)[entry], "names")
        return names.value if isinstance(names, yaml.SequenceNode) else [names]

    def _put(self, item: yaml.Node, wanted: Mapping[str, Sequence[str]]) -> list[str]:
        """What stands in a list for an item: itself, or other names as it is quoted."""
        source = self._source(item)
        if item.value not in wanted:
            return [source]
        quote = source[0] if source[0] in "\"'" else ""
        return [f"{quote}{name}{quote}" for name in wanted[item.value]]

    def _in_lines(self, item: yaml.Node, names: Sequence[str]) -> Iterator[Splice]:
        """An item on its own line becomes others, each on its own; what stands behind it stays with the first."""
        line, column = self._line_of(item), self._dash(item)
        if not names:
            yield self._lines(line, line)
            return
        first, *more = self._put(item, {item.value: names})
        yield Splice(self._at(item.start_mark), self._at(item.end_mark), first)
        if more:
            end = self._line_end(line)
            yield Splice(end, end, "".join(f"{' ' * column}- {name}\n" for name in more))

    def set_mode(self, file: str, entry: int, mode: str, drop: Iterable[str] = ()) -> None:
        """Write another mode, and drop keys that spoke about the one before."""
        changed = self._entries(file)[entry]
        if "mode" in changed.keys:
            key, value = self._value(changed, "mode")
            if value.start_mark.line < key.start_mark.line:
                raise self._refusal(key, "the mode is an alias")
            self._splices.append(Splice(self._at(value.start_mark), self._at(value.end_mark), mode))
        else:
            self._add_key(changed, f"mode: {mode}")
        for name in drop:
            if name in changed.keys:
                self._drop_key(changed, name)

    def drop_entry(self, file: str, entry: int) -> None:
        """Remove an entry with the comment lines right above it."""
        self._extent(self._entries(file)[entry])  # refuses here what can not be removed
        self._dropped.setdefault(file, set()).add(entry)

    def _removal(self, file: str, dropped: Collection[int]) -> Iterator[Splice]:
        entries = self._entries(file)
        if len(dropped) == len(entries) and file not in self._extended:
            # A list without items is no list, so its key goes too.
            yield self._lines(_keys(self._block(file))["tests"][0].start_mark.line, self._extent(entries[-1])[1])
            return
        for number in sorted(dropped):
            start, end = self._extent(entries[number])
            while start > 0 and self.original[self._starts[start - 1] :].lstrip(" ").startswith("#"):
                start -= 1
            yield self._lines(start, end)

    def add_entries(self, file: str, entries: Sequence[Mapping[str, object]]) -> None:
        """Put entries behind those of a file."""
        node = self._block(file)
        tests = _keys(node).get("tests")
        self._extended.add(file)
        if tests is None:
            column = node.start_mark.column
            written = textwrap.indent(write_plain({"tests": list(entries)}), " " * column)
            self._insert_behind(self._last_line(node), written)
        elif tests[1].value and not _in_brackets(tests[1]):
            last = tests[1].value[-1]
            self._insert_behind(self._last_line(last), _items(entries, self._dash(last)))
        else:
            raise self._refusal(tests[0], "`tests` is written in brackets; write one entry to a line")

    def add_block(self, block: Mapping[str, object]) -> None:
        """Put a file block behind the others."""
        if not self._files.value or self._files.flow_style:
            raise self._refusal(self._files, "`files` is written in brackets; write one file to a line")
        last = self._files.value[-1]
        self._insert_behind(self._last_line(last), "\n" + _items([block], self._dash(last)))

    def set_path(self, file: str, path: str) -> None:
        """Write another path of a file block, in the quotes of the one there."""
        _, node = _keys(self._block(file))["path"]
        quote = source[0] if (source := self._source(node))[0] in "\"'" else ""
        self._splices.append(Splice(self._at(node.start_mark), self._at(node.end_mark), f"{quote}{path}{quote}"))

    def global_body(self) -> str | None:
        """The lines below `global`, as if they stood at the margin; None when it is not written in lines of its own."""
        extent = self._global_extent()
        if extent is None:
            return None
        return textwrap.dedent(self.original[self._starts[extent[0]] : self._line_end(extent[1])]).rstrip("\r\n") + "\n"

    def set_global_body(self, body: str) -> None:
        """Put other lines below `global`, in the column of those there. Only where `global_body` has an answer."""
        extent = self._global_extent()
        if extent is None or self._global is None:
            raise SpliceError(f"{self.name} has no `global` in lines of its own")
        written = textwrap.indent(body, " " * self._global[1].start_mark.column)
        self._splices.append(Splice(self._starts[extent[0]], self._line_end(extent[1]), written))

    def _global_extent(self) -> tuple[int, int] | None:
        if self._global is None:
            return None
        key, value = self._global
        in_lines = isinstance(value, yaml.MappingNode) and not value.flow_style
        if not in_lines or value.start_mark.line <= key.start_mark.line:
            return None
        return key.end_mark.line + 1, self._last_line(value)

    def _block(self, file: str) -> yaml.MappingNode:
        for node in self._files.value:
            path = _keys(node).get("path")
            if isinstance(node, yaml.MappingNode) and path and upstream_file(path[1].value) == file:
                if node.flow_style:
                    raise self._refusal(node, "the file block is written in brackets; write one key to a line")
                return node
        raise SpliceError(f"{self.name} does not list {file}")

    def _entries(self, file: str) -> list[_Entry]:
        tests = _keys(self._block(file)).get("tests")
        nodes = tests[1].value if tests else []
        if tests and (_in_brackets(tests[1]) or tests[1].start_mark.line < tests[0].start_mark.line):
            raise self._refusal(tests[0], "`tests` is written in brackets or is an alias")
        return [_Entry(node, _keys(node)) for node in nodes]

    def _value(self, entry: _Entry, key: str) -> tuple[yaml.Node, yaml.Node]:
        if key not in entry.keys:
            raise self._refusal(entry.node, f"`{key}` comes from a merge key")
        return entry.keys[key]

    def _add_key(self, entry: _Entry, line: str) -> None:
        if entry.node.flow_style:
            end = self._at(entry.node.end_mark) - 1
            self._splices.append(Splice(end, end, f", {line}"))
            return
        key, names = self._value(entry, "names")
        self._insert_behind(self._last_line_of_pair(key, names), " " * key.start_mark.column + line + "\n")

    def _drop_key(self, entry: _Entry, name: str) -> None:
        key, value = entry.keys[name]
        first = entry.node.value[0][0]
        if entry.node.flow_style or key is first:
            raise self._refusal(key, f"`{name}` stands in brackets or comes first in its entry; remove it by hand")
        self._splices.append(self._lines(key.start_mark.line, self._last_line_of_pair(key, value)))

    def _extent(self, entry: _Entry) -> tuple[int, int]:
        start = self._starts[entry.node.start_mark.line]
        if self.original[start : self._at(entry.node.start_mark)].strip() != "-":
            raise self._refusal(entry.node, "the entry does not start on a line of its own, or is an alias")
        return entry.node.start_mark.line, self._last_line(entry.node)

    def _dash(self, node: yaml.Node) -> int:
        """The column of the dash before an item."""
        start = self._starts[node.start_mark.line]
        before = self.original[start : self._at(node.start_mark)]
        if before.strip() != "-":
            raise self._refusal(node, "the item does not start on the line of its dash, or is an alias")
        return before.index("-")

    def _last_line(self, node: yaml.Node) -> int:
        """The line a node ends in. The parser's own end of a block includes the comments behind it."""
        if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
            return max(self._last_line_of_pair(key, value) for key, value in node.value)
        if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
            return max(self._last_line(item) for item in node.value)
        end = node.end_mark
        return end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line

    def _last_line_of_pair(self, key: yaml.Node, value: yaml.Node) -> int:
        # The value of an alias stands where its anchor is.
        return key.end_mark.line if self._at(value.start_mark) < self._at(key.start_mark) else self._last_line(value)

    def _line_of(self, item: yaml.Node) -> int:
        self._dash(item)
        return item.start_mark.line

    def _lines(self, first: int, last: int) -> Splice:
        return Splice(self._starts[first], self._line_end(last), "")

    def _line_end(self, line: int) -> int:
        return self._starts[line + 1] if line + 1 < len(self._starts) else len(self.original)

    def _insert_behind(self, line: int, written: str) -> None:
        at = self._line_end(line)
        lead = "" if at in self._starts else "\n"
        self._splices.append(Splice(at, at, lead + written))

    def _source(self, node: yaml.Node) -> str:
        return self.original[self._at(node.start_mark) : self._at(node.end_mark)]

    def _at(self, mark: yaml.Mark) -> int:
        return self._starts[mark.line] + mark.column

    def _line(self, offset: int) -> int:
        return max(number for number, start in enumerate(self._starts) if start <= offset)

    def _refusal(self, node: yaml.Node, why: str) -> SpliceError:
        return SpliceError(f"{self.name}:{node.start_mark.line + 1} is left as it is: {why}")


def _keys(node: yaml.Node | None) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    """The keys of a mapping with their values; of a key that stands twice the last, as when it is loaded."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return {key.value: (key, value) for key, value in pairs if isinstance(key, yaml.ScalarNode)}


def _in_brackets(node: yaml.Node) -> bool:
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _items(data: Sequence[Mapping[str, object]], column: int) -> str:
    return textwrap.indent(textwrap.dedent(write_plain([dict(item) for item in data])), " " * column)
