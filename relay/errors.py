"""Every error the relay answers with. Each carries an HTTP status, a stable code, a cause for people and a next step.

    RelayError
      NotFoundError            404  the thing named in the URL is not in the record
      UnauthorizedError        401  a token is missing or wrong
      ForbiddenError           403  the token is known and not enough, or a form is not ours
      ConflictError            409  the request does not fit the state of the record
        LeaseLostError         409  a worker speaks for a shard that is no longer its own
      BadMessageError          422  a worker's message is well formed and still makes no sense
      InvalidCursorError       422  a list is asked for from a place that it does not have
      TooLargeError            413  a body is over its cap
      ModelRefusedError        422  the triage model's server does not take such a request
      ModelFailedError         502  the triage model answered with an error
      ModelTimeoutError        504  the triage model did not answer in time
    SettingsError              the service cannot start with these settings

Faults inside the state machines are bugs or races, not answers: see `relay.runs.states`.
"""

from __future__ import annotations


class RelayError(Exception):
    """An answer to the caller: `message` says what happened, `hint` what to do next. Neither may quote a secret."""

    status = 500
    code = "internal"

    def __init__(self, message: str, hint: str = "", *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code


class NotFoundError(RelayError):
    """The record has nothing under this name."""

    status = 404
    code = "not_found"


class UnauthorizedError(RelayError):
    """A token is missing or wrong."""

    status = 401
    code = "unauthorized"


class ForbiddenError(RelayError):
    """Who asks is known, and may not do this."""

    status = 403
    code = "forbidden"


class ConflictError(RelayError):
    """The request does not fit the present state."""

    status = 409
    code = "conflict"


class LeaseLostError(ConflictError):
    """The lease is not the shard's current one: the worker stops and asks for other work."""

    code = "lease_lost"


class BadMessageError(RelayError):
    """A worker's message names things the record does not know, or contradicts itself."""

    status = 422
    code = "bad_message"


class InvalidCursorError(RelayError):
    """A cursor is not one that the list gave out."""

    status = 422
    code = "invalid_cursor"


class TooLargeError(RelayError):
    """A body is over its cap."""

    status = 413
    code = "too_large"


class ModelRefusedError(RelayError):
    """The triage model's server does not take such a request, for example its `response_format`."""

    status = 422
    code = "model_refused"


class ModelFailedError(RelayError):
    """The triage model answered with an error or with something that is not JSON."""

    status = 502
    code = "model_failed"


class ModelTimeoutError(RelayError):
    """The triage model did not answer in time."""

    status = 504
    code = "model_timeout"


class SettingsError(Exception):
    """The service cannot start with these settings; the text names the variable and the remedy."""
