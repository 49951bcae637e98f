"""What makes two jobs one, and two reports one (crcr-protocol 3.8). Pure.

Identities are digests of lists, never of joined texts: names of workflows and jobs may hold any separator, and a job
without a name is another one than a job of any name.
"""

from __future__ import annotations

import hashlib
import json

from relay.crcr.callback import COMPLETED, Callback


def job_identity(callback: Callback, repo_key: str) -> str:
    """The identity of one attempt at one job of a backend for one delivery. The id of a check is no part of it: it is
    another one for each job that reports, and one job may begin what another one ends."""
    job = [callback.workflow, callback.job_name, callback.run_id, callback.run_attempt]
    return _digest([callback.delivery_id, repo_key, *job])


def report_digest(callback: Callback) -> str:
    """What a report claims, without clocks, links and what is only echoed: a reporter that tries again has a later
    clock, and says the same all the same."""
    return _digest(callback.results if callback.status == COMPLETED else callback.status)


def body_digest(raw: bytes) -> str:
    """The digest of a request's body as it came."""
    return hashlib.sha256(raw).hexdigest()


def _digest(value: object) -> str:
    # ASCII only, so that lone surrogates, which JSON may hold, have a digest too.
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()
