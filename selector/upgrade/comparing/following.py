"""A tree in which links to folders of tests are followed: upstream once had `test/functorch` lead to `functorch/test`.

Owns which name a file has then: the one by the link, under which a release without the link has it, and no other. A
link is followed to a folder inside the tree alone, and never through another link.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from selector.trees import IdentifiedTree, LinkedTree, SourceFile, SourceTree, blob_id_of

_TESTS = "test/"


class FollowedTree:
    """`tree` with its links in `test/` followed."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._identified = tree if isinstance(tree, IdentifiedTree) else None  # a slow question
        listed = tree.paths()
        self._named = dict(_named(listed, _folders(tree, listed)))
        self._ids: dict[str, str | None] = {}

    def paths(self) -> Sequence[str]:
        return sorted(self._named)

    def read(self, path: str) -> str | None:
        return self._tree.read(self._named[path]) if path in self._named else None

    def blob_id(self, path: str) -> str | None:
        """The id of the content when it was first asked for: several readers ask, and a folder reads the file."""
        if path not in self._ids:
            self._ids[path] = self._blob_id(path)
        return self._ids[path]

    def _blob_id(self, path: str) -> str | None:
        named = self._named.get(path)
        if named is None:
            return None
        return self._identified.blob_id(named) if self._identified is not None else _text_id(self.read(path))

    def read_all(self, paths: Sequence[str]) -> Iterator[SourceFile]:
        if self._identified is None:
            for path in paths:
                text = self.read(path)
                yield SourceFile(path, _text_id(text), text)
            return
        # a path that is no file of the tree reads as none, whatever it is called
        found = self._identified.read_all([self._named.get(path, path) for path in paths])
        for path, file in zip(paths, found, strict=True):
            yield SourceFile(path, file.blob_id, file.text)


def _folders(tree: SourceTree, listed: Sequence[str]) -> Mapping[str, str]:
    """By the folder that a link leads to, the link."""
    if not isinstance(tree, LinkedTree):
        return {}
    links = {link: folder for link, folder in tree.links().items() if link.startswith(_TESTS)}
    inside = {link: folder for link, folder in links.items() if not f"{folder}/".startswith(_TESTS)}
    return {
        f"{folder}/": f"{link}/"
        for link, folder in sorted(inside.items(), reverse=True)
        if any(path.startswith(f"{folder}/") for path in listed)
    }


def _named(listed: Sequence[str], folders: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Pairs of the name a file has here and the one it has in the tree."""
    for path in listed:
        folder = next((folder for folder in folders if path.startswith(folder)), None)
        yield (path if folder is None else folders[folder] + path.removeprefix(folder)), path


def _text_id(text: str | None) -> str | None:
    return None if text is None else blob_id_of(text.encode("utf-8", errors="surrogatepass"))
