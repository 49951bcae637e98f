"""Every sentence of our comment on a pull request, as Markdown. Pure.

Text from outside (names of tests, logins, reasons) passes `relay.comments.neutral` and nothing else here does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from relay.comments.commands import MOST, PREFIX, Command, Target, Verb
from relay.comments.neutral import block, code
from relay.contract import Decision
from relay.runs.queries import FAILURES
from relay.views import Conclusion, RunState, RunSummary, Verdict

#: The first line of our comment, by which it is found again. Shown by nothing.
MARKER = "<!-- oot-relay: answers to /relay commands -->"

_DONE, _NOT_DONE, _TOLD = "✓", "✗", "ⓘ"
_ENDINGS: Mapping[str, tuple[str, str]] = {
    Conclusion.SUCCESS: ("✓", "succeeded"),
    Conclusion.FAILURE: ("✗", "failed"),
    Conclusion.NEUTRAL: ("○", "has no answer"),
    RunState.CANCELLED: ("⊘", "was cancelled"),
    RunState.FAILED: ("⚙", "could not be finished"),
}
_STAGES = {1: "change", 2: "ownership", 3: "triage", 4: "manifests"}
_HELP = (
    ("test", "run the change again, with its tests selected anew"),
    ("test all", "run every test there is"),
    ("test TEST ...", "run only these tests of the plan: by id, file, class and method, or method"),
    ("retest", "run the failed tests again"),
    ("cancel", "stop what runs for this pull request"),
    ("why TEST", "say why a test runs for this change, or does not"),
    ("COMMAND on DEVICE", "the same on another device than the first, where several are tested on"),
    ("help", "show this"),
)
#: What follows a verb.
_TAKES: Mapping[Verb, str] = {Verb.TEST: " [all | TEST ...]", Verb.WHY: " TEST"}


def heading(device: str) -> str:
    """Over all answers; without a device where there are several, of which each answer is about one."""
    return f"**oot-relay**{f' for {code(device)}' if device else ''}; `{PREFIX} help` lists the commands."


def asked(login: str, address: str) -> str:
    """Over the answers to one comment."""
    return f"{code(login)} [asked]({address}):"


def done(command: Command, sentence: str) -> str:
    return _answered(command, _DONE, sentence)


def not_done(command: Command, sentence: str) -> str:
    return _answered(command, _NOT_DONE, sentence)


def told(command: Command, sentence: str) -> str:
    return _answered(command, _TOLD, sentence)


def earlier(answers: Sequence[str], left_out: int) -> str:
    """The answers to former comments, folded away."""
    count = f"{len(answers)} earlier {'answer' if len(answers) == 1 else 'answers'}"
    more = f"\n\n{left_out} more {'is' if left_out == 1 else 'are'} left out." if left_out else ""
    body = "\n\n---\n\n".join(answers)
    return f"<details><summary>{count}</summary>\n\n{body}{more}\n\n</details>"


def run_link(run_id: int, public_url: str) -> str:
    return f"[run {run_id}]({public_url}/runs/{run_id})"


def commands() -> str:
    table = "\n".join(f"| `{PREFIX} {usage}` | {what} |" for usage, what in _HELP)
    return (
        "these are the commands, one a line, outside of code and quotes:\n\n"
        f"| command | what it does |\n|---|---|\n{table}\n\n"
        "They take write permission here; whoever opened the pull request may ask `why`."
    )


def no_such_device(device: str, known: Sequence[str]) -> str:
    return f"nothing is tested on {code(device)} here. The devices are {', '.join(map(code, known))}."


def no_such_command(command: Command) -> str:
    if command.nearest is None:
        return f"there is no such command. `{PREFIX} help` lists those there are."
    usage = f"`{PREFIX} {command.nearest}{_TAKES.get(command.nearest, '')}`"
    if command.line.lower().startswith(f"{PREFIX} {command.nearest}"):
        return f"it goes like this: {usage}."
    return f"there is no such command. Did you mean {usage}?"


def too_many() -> str:
    return f"{_NOT_DONE} Only the first {MOST} commands of a comment are read."


def may_not(command: Command, login: str, repo: str) -> str:
    also = "" if command.verb is not Verb.WHY else ", and whoever opened the pull request"
    return f"{code(login)} may not: this takes write permission in {code(repo)}{also}."


def too_late(hours: int) -> str:
    return f"this was asked {hours} h ago and could only be read now. Ask again if it is still wanted."


def which_pull(command: Command, upstream: str) -> str:
    example = f"{PREFIX} {command.verb} {' '.join([*command.names, f'{upstream}#7'])}"
    return f"runs are of pull requests of {code(upstream)}. Say which one is meant, for example {code(example)}."


def foreign_target(target: Target, upstream: str) -> str:
    return f"{code(f'{target.repo}#{target.number}')} is no pull request of {code(upstream)}."


def nothing_on_record(number: int, upstream: str) -> str:
    return f"no run of {code(f'{upstream}#{number}')} is on record. {_ask_for_one()}"


def pull_unknown(number: int, upstream: str) -> str:
    return f"no run of {code(f'{upstream}#{number}')} is on record, and GitHub does not tell this App of it."


def pull_closed(number: int, upstream: str) -> str:
    return f"{code(f'{upstream}#{number}')} is closed, and no run of its head is on record."


def no_plan_for_head(head: str) -> str:
    return f"no run of {code(head[:12])}, the newest commit, is on record, so no test can be named. {_ask_for_one()}"


def _ask_for_one() -> str:
    return f"`{PREFIX} test` starts one."


def opened(run: str, head: str, *, full: bool) -> str:
    return f"{run} tests {code(head[:12])}{', every test there is' if full else ''}."


def again(run: str, old: str, what: str) -> str:
    return f"{run} runs {what} of {old} again."


def all_again(run: str, old: str) -> str:
    return f"{run} tests the change of {old} again, selected anew."


def full_again(run: str, old: str) -> str:
    return f"{run} runs every test there is for the change of {old}."


def failed_tests(count: int) -> str:
    return f"the {count} failed {'test' if count == 1 else 'tests'}"


def named_tests(tests: Sequence[str]) -> str:
    return code(tests[0]) if len(tests) == 1 else f"{len(tests)} tests by name"


def unfinished(run: str, headline: str) -> str:
    return f"{run} is not finished: {code(headline)}. Wait for it, or `{PREFIX} cancel` it first."


def nothing_failed(run: str) -> str:
    return f"{run} has no failed test. `{PREFIX} test` runs all of it again."


def not_planned(name: str, run: str, nearest: Sequence[str]) -> str:
    return f"{run} did not plan {code(name)}.{_did_you_mean(nearest)}"


def means_too_many(name: str, most: int) -> str:
    return f"{code(name)} means more than {most} tests. Name fewer, or run all of it with `{PREFIX} test`."


def cancelled(runs: Sequence[str]) -> str:
    return f"{_listed(runs)} {'is' if len(runs) == 1 else 'are'} cancelled."


def nothing_to_cancel() -> str:
    return "nothing runs for this pull request."


def refused(sentence: str) -> str:
    """A refusal of the record, in its own words."""
    return code(sentence, 600)


def not_selected_yet(run: str) -> str:
    return f"{run} has not chosen its tests yet. Ask again in some minutes."


def never_selected(run: str) -> str:
    return f"{run} ended before it chose its tests. `{PREFIX} test` starts another one."


def not_considered(name: str, run: str, nearest: Sequence[str]) -> str:
    found = _did_you_mean(nearest) or " So nothing that was looked at ties it to the change, or there is no such test."
    return f"{run} did not consider {code(name)}.{found}"


def several(decisions: Sequence[Decision], total: int) -> str:
    lines = "\n".join(f"{'runs    ' if it.kept else 'left out'}  {it.test}" for it in decisions)
    more = f"\n\n{total - len(decisions)} more are not shown." if total > len(decisions) else ""
    return f"the name can mean {total} tests:\n\n{block(lines, 3_000)}{more}"


def why(
    decision: Decision, run: str, verdicts: Mapping[Verdict | None, int], broken: tuple[str, str] | None = None
) -> str:
    """The decision about a base test, every reason, and what came of its variants; `broken` is the first of them that
    speaks against the change, and what it said."""
    kept = "must run" if decision.kept and decision.must_run else "runs" if decision.kept else "is left out"
    lines = [f"stage {it.stage} {_STAGES.get(it.stage, ''):<9}  {it.rule}: {it.evidence}" for it in decision.reasons]
    outcome = f" {_outcome(verdicts)}" if decision.kept and verdicts else ""
    reasons = block("\n".join(lines), 3_000) if lines else "No stage gave a reason."
    said = f"\n\n{code(broken[0])} said:\n\n{block(broken[1], 1_000)}" if broken and broken[1] else ""
    return f"{code(decision.test)} {kept} in {run}.{outcome}\n\n{reasons}{said}"


def _outcome(verdicts: Mapping[Verdict | None, int]) -> str:
    counts = [
        f"{count} {'waiting' if verdict is None else verdict.replace('_', ' ')}" for verdict, count in verdicts.items()
    ]
    total = sum(verdicts.values())
    return f"It has {total} {'variant' if total == 1 else 'variants'}: {', '.join(counts)}."


def ended(run: RunSummary, link: str, failed: Sequence[tuple[str, Verdict]]) -> str:
    """What became of a run: the verdict, the first tests that speak against the change, and what to do next."""
    sign, word = _ENDINGS[run.conclusion or run.state]
    sentence = f"{sign} {link} {word}: {code(run.headline, 600)}"
    if not failed:
        return sentence
    count = sum(run.verdicts.get(verdict, 0) for verdict in FAILURES)
    more = f"\n\n{count - len(failed)} more are in {link}." if count > len(failed) else ""
    lines = "\n".join(f"{verdict:<10}  {test}" for test, verdict in failed)
    hint = f"`{PREFIX} retest` runs them again, `{PREFIX} why TEST` says why one ran."
    return f"{sentence}\n\n{block(lines, 3_000)}{more}\n\n{hint}"


def _answered(command: Command, sign: str, sentence: str) -> str:
    return f"{code(command.line)}\n{sign} {sentence[:1].upper()}{sentence[1:]}"


def _did_you_mean(names: Sequence[str]) -> str:
    return f" Did you mean {_listed([code(name) for name in names], 'or')}?" if names else ""


def _listed(parts: Iterable[str], last: str = "and") -> str:
    known = list(parts)
    return known[0] if len(known) == 1 else f"{', '.join(known[:-1])} {last} {known[-1]}"
