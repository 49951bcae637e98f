"""Reads a file of collected tests for work on manifests without a collection (`--ids IDS.json`).

Two forms: objects that say what the collection knew (`oot-manifests.md` section 8, `universe`), and plain node ids.
Only the first tells base names, operators and dtypes; of a plain id they are guessed no further than stated here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping

from selector.manifests.models import is_model_file
from selector.manifests.upstream import file_key
from selector.types import CollectedTest

MAX_BYTES = 256 * 1024 * 1024
#: The class suffix of generated tests before a device gives itself a name.
_GENERIC = "PRIVATEUSE1"


class UniverseError(ValueError):
    """The text is no list of tests; the message says what is wrong with which of them."""


def read_universe(text: str, device: str = "") -> tuple[CollectedTest, ...]:
    """The tests of `{"universe": [...]}` or of a plain list, in order. Raises UniverseError.

    An object has `id`, `file`, `base` and `method`, and may have `class` (or `cls`), `op` and `dtype`. A plain id
    `file::Class::method` is taken apart with the device's word in generated names: the suffix of the class is cut
    off, and the base name ends before `_<device>`, so that an operator or a parameter in the method name stays in the
    base name. Without a device the method is the base name. The parameter of a model's test is its dtype.
    """
    items = _items(_parsed(text))
    word = device or device_of(text)
    tests = tuple(_test(item, number, word) for number, item in enumerate(items, 1))
    twice = [test_id for test_id, count in Counter(test.id for test in tests).items() if count > 1]
    if twice:
        raise UniverseError(f"the test {twice[0][:200]!r} stands more than once in the list")
    return tests


def device_of(text: str) -> str:
    """The device's word in generated names where the text tells it (`"device": "..."`), else nothing."""
    document = _parsed(text)
    device = document.get("device") if isinstance(document, dict) else None
    return device if isinstance(device, str) else ""


def plain_ids(text: str) -> frozenset[str]:
    """The ids about which the text tells nothing more. Raises UniverseError."""
    return frozenset(item for item in _items(_parsed(text)) if isinstance(item, str))


def _items(document: object) -> list[object]:
    items = document.get("universe") if isinstance(document, dict) else document
    if not isinstance(items, list):
        raise UniverseError('write a JSON list of tests, or an object with one under "universe"')
    return items


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UniverseError(f"not JSON: {error}") from error


def _test(item: object, number: int, device: str) -> CollectedTest:
    if isinstance(item, str):
        return _from_id(item, number, device)
    if not isinstance(item, dict):
        raise UniverseError(f"test {number} is neither a node id nor an object")
    return _from_object(item, number)


def _from_object(item: Mapping[str, object], number: int) -> CollectedTest:
    cls = item.get("class", item.get("cls", ""))
    texts = {**{key: item.get(key) for key in ("id", "file", "base", "method")}, "class": cls}
    for key, value in texts.items():
        if not isinstance(value, str) or not (value or key == "class"):
            raise UniverseError(f"test {number} needs `{key}` as text")
    for key in ("op", "dtype"):
        if not isinstance(item.get(key), str | None):
            raise UniverseError(f"`{key}` of test {number} must be text or left out")
    file = file_key(str(texts["file"]))
    op, dtype = (str(item[key]) if item.get(key) else None for key in ("op", "dtype"))
    return CollectedTest(str(item["id"]), file, str(cls), str(item["base"]), str(item["method"]), op, dtype)


def _from_id(node: str, number: int, device: str) -> CollectedTest:
    # A parameter may hold `::`, a class never holds `[`.
    name, bracket, parameters = node.partition("[")
    file, *parts = name.split("::")
    if not file or not parts or not all(parts):
        raise UniverseError(f"test {number} is not `file::Class::method` or `file::function`")
    *classes, method = parts
    cls = "::".join(classes)
    for suffix in filter(None, (_GENERIC, device.upper())):
        cls = cls.removesuffix(suffix) or cls
    base = _base(method, device)
    told = parameters.removesuffix("]") if is_model_file(file) else None
    return CollectedTest(node, file_key(file), cls, base, method + bracket + parameters, dtype=told or None)


def _base(method: str, device: str) -> str:
    if not device:
        return method
    head, found, tail = method.rpartition(f"_{device}")
    return head if found and head and (not tail or tail.startswith("_")) else method
