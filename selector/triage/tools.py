"""The tools a model may use: what they are called, what they take, and the one door to them.

Owns the checking of arguments, which are hostile input, and the caps on answers. A tool reads what it was made with and
nothing else: it cannot write, start a process or reach a network, and a path is only ever a key of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from selector.triage.conversation import ToolCall, ToolSpec

#: Characters of one answer.
RESULT_CAP = 8_000
#: Characters of one argument; a longer one is refused, not cut.
ARGUMENT_CAP = 300
_INTEGER_CAP = 10_000_000


class ToolError(ValueError):
    """The call makes no sense; the message is for the model."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument. An optional one has a `default`."""

    kind: type[str] | type[int]
    description: str
    default: str | int | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: the function gets every parameter by name, checked."""

    name: str
    description: str
    parameters: Mapping[str, Parameter]
    answer: Callable[..., str]

    @property
    def spec(self) -> ToolSpec:
        kinds = {str: "string", int: "integer"}
        properties = {
            name: {"type": kinds[parameter.kind], "description": parameter.description}
            for name, parameter in self.parameters.items()
        }
        required = [name for name, parameter in self.parameters.items() if parameter.default is None]
        schema = {"type": "object", "additionalProperties": False, "required": required, "properties": properties}
        return ToolSpec(self.name, self.description, schema)


class Tools(Protocol):
    """What the agent sees of a toolbox."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools to offer."""

    def use(self, call: ToolCall) -> str:
        """The answer to a call, a sentence about its fault included; it never raises."""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools by name."""

    tools: Mapping[str, Tool]

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self.tools.values())

    def use(self, call: ToolCall) -> str:
        tool = self.tools.get(call.name)
        if tool is None:
            return "error: there is no tool of this name"
        try:
            answer = tool.answer(**_checked(tool, call.arguments))
        except ToolError as error:
            return f"error: {error}"
        return capped(answer)


def capped(text: str, cap: int = RESULT_CAP) -> str:
    """The text, cut where it is longer than `cap` characters, and saying so."""
    return text if len(text) <= cap else f"{text[: cap - 20]}\n[cut: too long]"


def _checked(tool: Tool, given: Mapping[str, Any] | None) -> dict[str, str | int]:
    if given is None:
        raise ToolError("the arguments are no JSON object")
    unknown = sorted(set(given) - set(tool.parameters))
    if unknown:
        raise ToolError(f"{tool.name} takes {', '.join(tool.parameters)} and nothing else")
    return {name: _value(name, parameter, given.get(name)) for name, parameter in tool.parameters.items()}


def _value(name: str, parameter: Parameter, value: object) -> str | int:
    if value is None and parameter.default is not None:
        return parameter.default
    if isinstance(value, bool) or not isinstance(value, parameter.kind):
        raise ToolError(f"{name} has to be {'text' if parameter.kind is str else 'a whole number'}")
    if isinstance(value, str) and not 0 < len(value) <= ARGUMENT_CAP:
        raise ToolError(f"{name} has to have 1 to {ARGUMENT_CAP} characters")
    if isinstance(value, int) and not 0 < value <= _INTEGER_CAP:
        raise ToolError(f"{name} has to be 1 to {_INTEGER_CAP}")
    return value
