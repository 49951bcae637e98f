"""What the API is for, in words: its summary and its parts. Words only."""

from __future__ import annotations

from collections.abc import Mapping

SUMMARY = """\
A relay between an upstream repository and the devices that are tested out of its tree: which tests a change can affect,
how they went, and why.

Times are ISO 8601 in UTC, durations are seconds. Everything that quotes upstream (titles, names and output of tests) is
untrusted text. A list goes on at the address in `next`, to be followed as it is. An answer has an `ETag`; sent back as
`If-None-Match` it is answered 304 while nothing has changed. An error is `application/problem+json` with a `code` for
programs, a `message` and a `hint` for people, and a `request_id` that finds it in the log.
"""

TAGS: tuple[Mapping[str, str], ...] = (
    {"name": "read", "description": "Runs, tests, changes and the trunk, for everybody who may read"},
    {"name": "audits", "description": "Audits, and how good the selections are"},
    {"name": "backends", "description": "Other repositories' backends, by what they report"},
    {"name": "deliveries", "description": "What came in (inbox) and what goes out (outbox)"},
    {"name": "upgrades", "description": "What upgrades of upstream mean for a device: published reports"},
    {"name": "operator", "description": "What changes runs; takes a token of scope `operate`"},
    {"name": "access", "description": "Tokens, and the log of what operators did"},
    {"name": "worker", "description": "How workers get work and report; takes a token of scope `worker`"},
    {"name": "results", "description": "The addresses that readers and forwarders of results know"},
    {"name": "intake", "description": "What GitHub and backends call"},
)
