"""What went wrong, in a form that reaches a person whole: a code, a sentence, a next step.

The client, the embedded service and the command line raise these; the command line shows them. Standard library only,
so that catching them costs no start-up time.
"""

from __future__ import annotations


class Failure(Exception):  # noqa: N818 - the subclasses are named after what happened (`NotFound`)
    """An expected end of an operation. `message` says what happened, `hint` what to do next, `code` is for machines.
    `request_id` is the service's own number for the request that failed, where it gave one."""

    code = "failed"
    #: Whether a token is what is missing; scripts are told apart by exit code.
    needs_login = False
    request_id = ""

    def __init__(self, message: str, hint: str = "", *, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code:
            self.code = code
