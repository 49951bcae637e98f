"""Stage 1: from a diff and the two trees it lies between to typed facts about each changed file.

What cannot be judged is kept with its `doubt`; only a proven no-op leaves here.
"""

from __future__ import annotations

from selector.change.classify import HARMLESS, classify
from selector.change.diff import DiffError, read_diff
from selector.change.facts import Category, ChangeSet, FileChange, FileDelta, Status
from selector.change.reach import Exports, reached_names
from selector.change.symbols import compare
from selector.trees import SourceTree

_PYTHON_SUFFIXES = (".py", ".pyi")


def analyse(diff: str, base: SourceTree, head: SourceTree) -> ChangeSet:
    """The change set of `diff`, whose sides are `base` and `head`. A text that is no diff gives an empty set that says
    why in `unreadable`."""
    try:
        deltas = read_diff(diff)
    except DiffError as error:
        return ChangeSet((), unreadable=str(error))
    exports = Exports(head)
    return ChangeSet(tuple(_judge(delta, base, head, exports) for delta in deltas))


def _judge(delta: FileDelta, base: SourceTree, head: SourceTree, exports: Exports) -> FileChange:
    category = _category(delta)
    if category in HARMLESS:
        return _fact(delta, category, noop=HARMLESS[category])
    if delta.status is Status.MODE:
        return _fact(delta, category, noop="file mode only")
    if delta.unreadable:
        return _fact(delta, category, doubt=delta.unreadable)
    if delta.path.endswith(_PYTHON_SUFFIXES) and not delta.submodule:
        return _judge_python(delta, category, base, head, exports)
    return _fact(delta, category)


def _category(delta: FileDelta) -> Category:
    """Of the new path; of the old one when the file was moved to where it would not matter."""
    if delta.submodule:
        return Category.SUBMODULE
    category = classify(delta.path)
    return classify(delta.old_path) if category in HARMLESS and delta.old_path else category


def _judge_python(
    delta: FileDelta, category: Category, base: SourceTree, head: SourceTree, exports: Exports
) -> FileChange:
    old = "" if delta.status is Status.ADDED else base.read(delta.old_path or delta.path)
    new = "" if delta.status is Status.DELETED else head.read(delta.path)
    if old is None or new is None:
        return _fact(delta, category, doubt="the file cannot be read as UTF-8 text on both sides")
    difference = compare(old, new)
    if difference is None:
        return _fact(delta, category, doubt="the file does not parse on both sides")
    if difference.is_empty and delta.status in (Status.MODIFIED, Status.BINARY):
        return _fact(delta, category, noop="comments, docstrings or formatting only")
    reached = reached_names(delta.path, new or old, difference.symbols, exports)
    # a file that came, went or moved changes what its module is, whatever it contains
    moved = delta.status in (Status.ADDED, Status.DELETED, Status.RENAMED)
    module_level = difference.module_level or moved
    return FileChange(
        delta.path,
        delta.old_path,
        delta.status,
        category,
        symbols=difference.symbols,
        module_level=module_level,
        reached=reached,
        text=delta.text,
    )


def _fact(delta: FileDelta, category: Category, noop: str | None = None, doubt: str | None = None) -> FileChange:
    return FileChange(delta.path, delta.old_path, delta.status, category, noop=noop, doubt=doubt, text=delta.text)
