"""Options of the commands that resolve collected tests, so that they are spelt and explained once. Light to import."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ProfileName(StrEnum):
    """How to read the manifests; the words of `selector.manifests.Profile`, which is not light to import."""

    COMPAT = "compat"
    STRICT = "strict"


ManifestsArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="MANIFEST", help="Manifest files or folders [default: RELAY_MANIFEST_DIR]."),
]
_IDS_HELP = 'Collected tests: a JSON list of node ids, or {"universe": [...]} with base, op and dtype of each.'
IdsOption = Annotated[Path, typer.Option("--ids", metavar="IDS.json", help=_IDS_HELP)]
OptionalIdsOption = Annotated[Path | None, typer.Option("--ids", metavar="IDS.json", help=_IDS_HELP)]
ProfileOption = Annotated[
    ProfileName, typer.Option("--profile", help="compat: as the framework reads them; strict: as they are meant.")
]
DeviceOption = Annotated[
    str | None,
    typer.Option(metavar="WORD", help="The device's word in generated names [default: that of --ids, RELAY_DEVICE]."),
]
TestTypeOption = Annotated[
    str, typer.Option(metavar="LABEL", help="The test type that labels of entries are compared with [default: any].")
]
PlatformOption = Annotated[
    str, typer.Option(metavar="ARCH", help="The machine that `platforms` of entries are compared with [default: any].")
]
