"""`relay manifest schema`: the JSON Schema of a manifest, for editors that complete and check YAML."""

from __future__ import annotations

import sys


def schema() -> None:
    """Print the JSON Schema of a manifest, for editors. What it can not say, `relay manifest check` does.

    \b
    Examples:
      relay manifest schema > manifest.schema.json
    """
    import json

    from selector.manifests.json_schema import json_schema

    sys.stdout.write(f"{json.dumps(json_schema(), indent=2)}\n")
