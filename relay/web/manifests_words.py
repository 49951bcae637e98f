"""Every word of the page about the manifests. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.manifest_views import ExpiringEntry, ManifestsView, PromotionProposal
from relay.web.wording import Word, number

SEVERITY_WORDS: Mapping[str, Word] = {
    "error": Word("✗", "error", "bad", "to be mended; most keep the manifest from loading", "errors"),
    "warning": Word("!", "warning", "warn", "loads all the same", "warnings"),
}

_MODES = {
    "mandatory_success": "must pass",
    "xfail": "may fail",
    "xfail_strict": "must fail",
    "skip": "does not run",
}
#: Runs named in the command that makes the proposals; it needs as many as its policy asks for.
_RUNS_NAMED = 12


def headline(view: ManifestsView) -> str:
    """What is loaded, in one sentence."""
    if not view.manifests:
        return "No manifest is in use, so no test can run"
    blocks = [block for block in view.blocks if block.upstream]
    names = sum(block.names for block in blocks)
    models = sum(block.model for block in view.blocks)
    parts = [f"{_count(len(blocks), 'test file')} of upstream", _count(names, "name")]
    parts += [_count(models, "whole model")] if models else []
    return f"{_count(len(view.manifests), 'manifest')} in use: {', '.join(parts)}"


def mode(name: str) -> str:
    """What a mode asks of a test; one that this version does not know is shown as it is."""
    return _MODES.get(name, name)


def modes(counts: Mapping[str, int]) -> str:
    """`12 must pass, 1 may fail`."""
    return ", ".join(f"{number(count)} {mode(name)}" for name, count in counts.items())


def expiry_word(entry: ExpiringEntry) -> Word:
    """How long an excuse still lasts."""
    left = entry.days_left
    if left < 0:
        return Word("✗", f"expired {_count(-left, 'day')} ago", "bad", "no longer excused in good faith")
    if left == 0:
        return Word("!", "expires today", "warn", "renew or remove it")
    return Word("…", f"expires in {_count(left, 'day')}", "warn" if left <= 30 else "quiet", "excused until then")


def evidence(one: PromotionProposal) -> str:
    """What the weakest variant of a proposal has to show."""
    machines = ", ".join(one.machines) or "not named"
    return (
        f"{_count(one.variants, 'variant')} passed {_count(one.runs, 'run')} on {_count(one.days, 'day')}, "
        f"{one.first:%Y-%m-%d} to {one.last:%Y-%m-%d}, machines: {machines}"
    )


def promote_command(runs: Sequence[int]) -> str:
    """The command that writes the proposals into the manifests."""
    return " ".join(["relay manifest promote", *(f"--from-run {run}" for run in runs[:_RUNS_NAMED])])


def _count(count: int, noun: str) -> str:
    return f"{number(count)} {noun if count == 1 else noun + 's'}"
