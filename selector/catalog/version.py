"""Which reader of test files this is: the digest under which what it read is kept.

Taken when the package is imported, from the sources that are imported with it. It may therefore be of newer sources
than the running code only if they are replaced in the instant between the two.
"""

from __future__ import annotations

import hashlib
import sys
from importlib import resources

#: Packages and modules whose text decides what an outline says. All of the package, so that none is forgotten.
_PACKAGE = "selector.catalog"
_BESIDE = "source.py"


def _digest() -> str:
    """Of the sources and of the Python that parses. Empty when the sources are not there to be read, as in an
    installation of compiled files alone."""
    digest = hashlib.sha256(f"{sys.implementation.cache_tag} {sys.version}".encode())
    try:
        folder = resources.files(_PACKAGE)
        files = sorted((file for file in folder.iterdir() if file.name.endswith(".py")), key=lambda file: file.name)
        for file in (*files, resources.files("selector").joinpath(_BESIDE)):
            content = file.read_bytes()
            digest.update(f"\0{file.name}\0{len(content)}\0".encode() + content)
    except OSError:
        return ""
    return digest.hexdigest() if len(files) > 1 else ""


PARSER = _digest()
