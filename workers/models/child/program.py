"""What a forked child does for a model check, in place of pytest: makes the CPU's answer, or holds the device to it.

The worker's order says which; see `workers.runner.child.order`. Every test of a check runs by itself: one that crashes
the process takes no other with it.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from workers.models.child.building import ModelError, PackageMissingError
from workers.models.child.checking import Side, verdict
from workers.models.child.lacking import REFUSED
from workers.models.child.reference import made, read
from workers.runner.child.channel import Channel
from workers.runner.child.events import Began, Ended, Finished, Piece, Refused, mark
from workers.runner.child.order import Order
from workers.runner.child.reporting import import_folders

#: Characters of one piece; a multiple of four, so that pieces are base64 each by itself.
PIECE_CHARS = 512 << 10
_FRAMES = 4
_OWN = str(Path(__file__).parents[3]) + os.sep


def carry_out(order: Order, channel: Channel, stderr: int) -> None:
    """Everything that is ordered, and the word that it is done."""
    gc.enable()
    if os.getcwd() != order.checkout:  # there is the `torch` source folder, which must not be imported
        sys.path.insert(0, os.getcwd())
    task = json.loads(order.task)
    with torch.no_grad():
        if order.ids is None:
            _make(task["check"], order, channel)
        else:
            _hold(task, order.ids, order, channel, stderr)
    channel.send(Finished())


def _make(check: Mapping[str, Any], order: Order, channel: Channel) -> None:
    try:
        text = base64.b64encode(made(check)).decode()
    except Exception as error:  # noqa: BLE001 - whatever a model raises is the answer
        channel.send(Refused(_told(error, order)[: order.detail_chars]))
        return
    for start in range(0, len(text), PIECE_CHARS):
        channel.send(Piece(text[start : start + PIECE_CHARS]))


def _hold(task: Mapping[str, Any], ids: list[str], order: Order, channel: Channel, stderr: int) -> None:
    side = Side(task["check"], read(base64.b64decode(task["reference"])), order.device)
    for test in ids:
        os.write(stderr, mark(test).encode())
        take_operators(order.device)
        channel.send(Began(test))
        began = time.perf_counter()
        try:
            detail = verdict(side, test)
        except Exception as error:  # noqa: BLE001 - whatever a model raises is the answer
            detail = _told(error, order)
        seconds = time.perf_counter() - began
        operators = [name[: order.operator_chars] for name in take_operators(order.device)[: order.operators]]
        observation = "failed" if detail else "passed"
        channel.send(Ended(test, observation, seconds, detail[: order.detail_chars], operators))


def take_operators(device: str) -> list[str]:
    """What the device ran since it was asked last; nothing from one that does not tell."""
    take = getattr(getattr(torch, device, None), "take_operators", None)
    return take() if take is not None else []


def _told(error: BaseException, order: Order) -> str:
    """An error as a detail: its message, and where it happened. The machine's folders say nothing about models."""
    if isinstance(error, PackageMissingError):
        return f"{order.device}{REFUSED}package-missing: {error}"
    if isinstance(error, ModelError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = "\n".join(f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)
    text = f"{''.join(traceback.format_exception_only(error)).strip()}\n{places}"
    for folder in (order.checkout + os.sep, _OWN, *import_folders()):
        text = text.replace(folder, "")
    return text
