"""What every client of a model's server has in common: how a request is posted, and what a refusal means.

A provider adds its wire format: the forms in which a request can be put, and how an answer is read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from selector.triage.conversation import ChatMessage, Reply, Request, ToolsRefusedError, as_turns
from selector.triage.posting import FormRefusedError, Poster


class PostingClient(ABC):
    """A model behind one URL. `timeout_s` bounds each wait and the answer as a whole."""

    def __init__(self, poster: Poster, model: str, timeout_s: float) -> None:
        self._poster = poster
        self._model = model
        self._timeout_s = timeout_s

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={self._poster.url!r}, model={self._model!r})"

    @property
    def model(self) -> str:
        """The model's name as its server knows it."""
        return self._model

    def close(self) -> None:
        """Close idle connections."""
        self._poster.close()

    def complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any]) -> str:
        return self.converse(Request(as_turns(messages), (), schema, 0, self._timeout_s)).text

    def converse(self, request: Request) -> Reply:
        """The model's next words. Raises `ToolsRefusedError` when a request with tools is refused in every form, and
        `LlmError` for every other failure."""
        try:
            return self._reply(self._poster.first_taken(self._forms(request), request.timeout_s))
        except FormRefusedError as error:
            if request.tools:
                raise ToolsRefusedError("model takes no tools") from error
            raise

    @abstractmethod
    def _forms(self, request: Request) -> Iterator[dict[str, Any]]:
        """The request as bodies to post, the preferred one first."""

    @abstractmethod
    def _reply(self, document: Mapping[str, Any]) -> Reply:
        """The answer of the server. Raises `LlmError` when it holds none."""
