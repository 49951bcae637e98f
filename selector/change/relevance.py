"""What of a change an out-of-tree device can notice.

Stage 1 says of each fact whether another backend alone is concerned; here a file with nothing else becomes one that
cannot matter. That is right for a device under PrivateUse1 on a torch built for the CPU and for nothing else.
"""

from __future__ import annotations

from dataclasses import replace

from selector.change.facts import ChangeSet, Effect, FileChange

_UNNOTICED = frozenset({Effect.NONE, Effect.OTHER_BACKEND})
#: The reason, one for all files; which backend and operator it is stands in the facts.
OTHERS_ONLY = "only other backends run what changed"


def on_out_of_tree_device(change: ChangeSet) -> ChangeSet:
    """The change, in which files that only other backends run are no-ops, with the reason."""
    return replace(change, files=tuple(map(_judged, change.files)))


def _judged(file: FileChange) -> FileChange:
    if not file.matters or file.doubt is not None or not file.facts:
        return file
    if any(fact.effect not in _UNNOTICED for fact in file.facts):
        return file
    return replace(file, noop=OTHERS_ONLY)
