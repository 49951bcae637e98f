"""Entries that excuse themselves with an issue that is closed (`oot-manifests.md` 7.2).

What is closed is handed in: nothing is asked of a network here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from selector.manifests.document import Path
from selector.manifests.findings import Finding
from selector.manifests.lint.checked import Checked
from selector.manifests.model_schema import ModelSpec
from selector.manifests.schema import Entry
from selector.types import Mode

_LINK = re.compile(r"https?://[^/\s]+/(?P<repo>[\w.-]+/[\w.-]+)/(?:issues|pull)/(?P<number>\d+)\S*")


def read_closed_issues(text: str) -> frozenset[str]:
    """The issues of a JSON list: references as in manifests, or objects with a `url`, as `gh issue list --state closed
    --json url` prints them.

    Raises ValueError with a sentence for anything else.
    """
    try:
        items = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    links = [_link(item) for item in items] if isinstance(items, list) else [""]
    if not all(links):
        raise ValueError("it is no list of references, or of objects with a `url`")
    return frozenset(canonical(link) for link in links)


def _link(item: object) -> str:
    """The reference of one item; empty when there is none."""
    link = item.get("url") if isinstance(item, dict) else item
    return link if isinstance(link, str) else ""


def canonical(reference: str) -> str:
    """`owner/repository#12` for a link to an issue or pull request; any other reference in lower case."""
    link = _LINK.fullmatch(reference)
    return (f"{link['repo']}#{link['number']}" if link else reference).lower()


def citing_closed(checked: Checked, closed: Collection[str]) -> Iterator[Finding]:
    """A finding at each `issue` that is closed. `#12` names no repository: it counts when every issue handed in is of
    one repository, which then is the one that is meant."""
    repositories = {issue.partition("#")[0] for issue in closed}
    home = next(iter(repositories)) if len(repositories) == 1 else ""
    entries: list[tuple[Path, Entry | ModelSpec]] = [(path, entry) for path, _, entry in checked.entries()]
    for path, entry in (*entries, *checked.whole_models()):
        if entry.issue is None or entry.mode is Mode.MANDATORY_SUCCESS:
            continue
        issue = canonical(entry.issue)
        if (home + issue if issue.startswith("#") else issue) in closed:
            message = f"`{entry.mode}` cites {entry.issue}, which is closed"
            yield checked.report("closed-issue", (*path, "issue"), message)
