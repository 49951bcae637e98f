"""What a command changed in a manifest, as a diff that `git apply` takes."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selector.manifests import ManifestDocument


def unified(before: ManifestDocument, after: ManifestDocument) -> Iterator[str]:
    """The lines of a unified diff, each with its end."""
    old, new = (document.text.splitlines(keepends=True) for document in (before, after))
    for line in difflib.unified_diff(old, new, f"a/{before.name}", f"b/{after.name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
