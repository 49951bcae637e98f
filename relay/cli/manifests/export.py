"""`relay manifest export`: the manifests as far as PyTorch's own test configuration can say them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relay.cli.manifests import text
from relay.cli.manifests.resolve_options import (
    DeviceOption,
    IdsOption,
    ManifestsArgument,
    PlatformOption,
    ProfileName,
    ProfileOption,
    TestTypeOption,
)
from relay.cli.options import JsonOption
from relay.cli.output import Output, one_line


def export(
    context: typer.Context,
    paths: ManifestsArgument = None,
    *,
    set_test_configs: Annotated[
        bool, typer.Option("--set-test-configs", help="As one call of PrivateUse1TestBase.set_test_configs.")
    ] = False,
    ids: IdsOption,
    by_dtype: Annotated[
        bool, typer.Option("--by-dtype", help="Exclude single dtypes too; PyTorch up to 2.13 takes these for methods.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", help="Write it there instead of to stdout.")] = None,
    profile: ProfileOption = ProfileName.COMPAT,
    device: DeviceOption = None,
    test_type: TestTypeOption = "",
    platform: PlatformOption = "",
    as_json: JsonOption = False,
) -> None:
    """Write what keeps tests from running as Python for PyTorch's own mechanism. stderr says what it can not express.

    \b
    Examples:
      relay manifest export --set-test-configs --ids ids.json --output spyre_test_configs.py
    """
    from relay.cli.manifests.collected import collected
    from relay.cli.manifests.sources import loaded, named_documents
    from relay.cli.manifests.writing import write_file
    from selector.manifests import Profile, resolve
    from selector.manifests.authoring.export import export as export_configs

    if not set_test_configs:
        raise typer.BadParameter("say which form: --set-test-configs is the one there is", context)
    wanted = collected(ids, device)
    documents = named_documents(paths)
    manifests = loaded(documents)
    table = resolve(
        manifests,
        wanted.tests,
        profile=Profile(profile),
        device=wanted.device,
        test_type=test_type,
        platform=platform,
    )
    configs = export_configs(wanted.tests, table, manifests, by_dtype=by_dtype)
    code = configs.python(text.exported(len(documents), len(wanted.tests), table.digest))
    out = Output(as_json)
    if output is not None:
        write_file(output, code)
    if as_json:
        out.data({"python": code, "notes": list(configs.notes)})
    elif output is None:
        out.say(code.rstrip("\n"))
    for note in configs.notes:
        out.note(one_line(note))
