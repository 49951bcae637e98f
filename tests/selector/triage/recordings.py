"""The transcripts beside this file, and what makes them anew: `python -m tests.selector.triage.recordings`.

That is needed after every change of the prompt, the tools or the example: a transcript answers the very questions it
was recorded with, and the test that plays it back says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from selector.triage import AnthropicClient, OpenAiClient, RecordingClient
from selector.types import StageResult
from tests.selector.triage.example import judge, verdicts
from tests.selector.triage.model_server import Heard, ModelServer, Says

FOLDER = Path(__file__).parent / "transcripts"
IDS = ("t1", "t2", "t3", "t4")


def looks_and_cites(heard: Heard) -> Says:
    """Every tool once, in two rounds, then a verdict with what it found."""
    if not heard.results:
        return Says(
            "I look at the change first.",
            (
                ("diff_hunk", {"file": "f1"}),
                ("read_file", {"path": "torch/x.py", "start": 1, "end": 20}),
                ("symbol_refs", {"symbol": "gelu", "under": "test/"}),
                ("op_info", {"op": "gelu"}),
            ),
        )
    if len(heard.results) < 7:
        wishes = (("grep", {"text": "gelu("}), ("test_history", {"test": "t1"}), ("manifest_lookup", {"test": "t2"}))
        return Says("", wishes)
    return Says(verdicts("run", *IDS, evidence=["f1", "call00003"]))


def never_stops(heard: Heard) -> Says:
    """Looks for as long as it may, and answers when it must."""
    if heard.may_call:
        return Says("", tuple(("read_file", {"path": "torch/x.py", "start": number}) for number in range(1, 5)))
    return Says(verdicts("defer", *IDS))


def talks_and_is_corrected(heard: Heard) -> Says:
    """Prose first, JSON in a fence when told."""
    told = "cannot be used" in heard.question
    return Says(f"Here you are:\n```json\n{verdicts('unsure', *IDS)}\n```" if told else "These tests look fine to me.")


def reaches_out(_: Heard) -> Says:
    """Asks for what it must not have until it may ask no more, and then has nothing to say."""
    return Says(
        "", (("read_file", {"path": "../../etc/passwd"}), ("shell", {"command": "id"}), ("grep", {"text": "x"}))
    )


RECORDINGS: dict[str, Callable[[Heard], Says]] = {
    "looks_and_cites": looks_and_cites,
    "never_stops": never_stops,
    "talks_and_is_corrected": talks_and_is_corrected,
    "reaches_out": reaches_out,
}
WIRES: dict[str, type[OpenAiClient] | type[AnthropicClient]] = {"openai": OpenAiClient, "anthropic": AnthropicClient}


def recorded_now(name: str, wire: str) -> tuple[list[str], StageResult]:
    """The lines of a recording, and the result of the stage while it was made."""
    lines: list[str] = []
    with ModelServer(RECORDINGS[name]).serving() as url:
        client = WIRES[wire](url, "scripted", "", 30.0)
        result = judge(RecordingClient(client, "scripted", lines.append))
        client.close()
    return lines, result


def main() -> int:
    """Write every transcript."""
    FOLDER.mkdir(exist_ok=True)
    for name in RECORDINGS:
        lines, _ = recorded_now(name, "openai")
        (FOLDER / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
