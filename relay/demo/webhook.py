"""The webhook GitHub would send for a change: its real shape, signed over the exact bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from uuid import uuid4

from relay.demo.repository import UpstreamChange
from relay.intake.signature import sign

PR_NUMBER = 7
_PAYLOAD_REPO = "pytorch/pytorch-like"


@dataclass(frozen=True, slots=True)
class SignedWebhook:
    """A body and the headers that make it a delivery."""

    body: bytes
    headers: dict[str, str]


def pull_request_opened(change: UpstreamChange, repo: str, secret: str, delivery_id: str = "") -> SignedWebhook:
    """GitHub's `pull_request` `opened` delivery for a change. A missing delivery id is made up."""
    template = (files("relay.demo") / "payloads" / "pull_request.opened.json").read_text()
    payload = json.loads(template.replace(_PAYLOAD_REPO, repo))
    payload["number"] = payload["pull_request"]["number"] = PR_NUMBER
    payload["pull_request"].update(title=change.title, body=change.body)
    payload["pull_request"]["head"]["sha"] = change.head_sha
    payload["pull_request"]["base"]["sha"] = change.base_sha
    body = json.dumps(payload).encode()
    return SignedWebhook(
        body,
        {
            "Content-Type": "application/json",
            "X-GitHub-Event": "pull_request",
            "X-GitHub-Delivery": delivery_id or str(uuid4()),
            "X-Hub-Signature-256": sign(secret, body),
        },
    )
