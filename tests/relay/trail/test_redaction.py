"""Secrets do not leave the machine in a log, and ordinary test output does."""

from __future__ import annotations

import time

import pytest

from relay.trail.redaction import HIDDEN, Redactor

# Put together here, so that no scanner takes them for real ones.
_KEY = f"-----BEGIN RSA {'PRIVATE'} KEY-----\nMIIEow\nIBAAKC\n-----END RSA {'PRIVATE'} KEY-----"
SECRETS = {
    "a GitHub token": f"cloning with {'ghp_' + 'a1B2' * 9}",
    "a fine-grained GitHub token": f"{'github_pat_' + '11ABC_' * 8}",
    "a key of AWS": f"found {'AKIA' + 'ABCDEFGH12345678'} in the environment",
    "a JSON web token": f"{'eyJ' + 'hbGciOiJIUzI1NiJ9'}.{'eyJzdWIiOiIxMjM0In0'}.{'c2lnbmF0dXJlIGhlcmU'}",
    "a header": "Authorization: Bearer 1234",
    "a bearer": "curl said: bearer abcdefghijklmnopqrstuvwxyz",
    "a password in an address": "connecting to redis://worker:hunter2@broker:6379/0",
    "a variable": "RELAY_WORKER_TOKEN=tr0ub4dor",
    "a private key": _KEY,
    "a private key that is cut": _KEY[:60],
}
REVEALING = ("a1B2", "11ABC_", "ABCDEFGH", "c2lnbmF0", "1234", "abcdefghij", "hunter2", "tr0ub4dor", "MIIEow", "IBAAKC")


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
def test_what_has_the_shape_of_a_secret_is_hidden(text: str) -> None:
    clean = Redactor()(text)
    assert HIDDEN in clean
    assert not any(part in clean for part in REVEALING)


def test_the_workers_own_secrets_are_hidden_wherever_they_stand() -> None:
    redact = Redactor(["own-token-of-the-worker", "own-token-of-the-worker-2", "", "short"])
    assert redact("x own-token-of-the-worker-2, own-token-of-the-worker.") == f"x {HIDDEN}, {HIDDEN}."
    assert redact("a short word") == "a short word"


@pytest.mark.parametrize(
    "text",
    [
        "AssertionError: Tensor-likes are not close! token=3 of 12",
        'File "test/test_ops.py", line 12, in test_bearer_of_news',
        "https://pytorch.org/docs/stable/notes/randomness.html",
        "key: 0123456789abcdef0123456789abcdef",
        "torch.Size([2, 3]) != torch.Size([3, 2])",
    ],
)
def test_ordinary_output_is_left_alone(text: str) -> None:
    assert Redactor()(text) == text


@pytest.mark.parametrize("part", ["a.", "eyJ-", "-----BEGIN ", "A_", "a://", "bearer ", "://:@", "AAAA_TOKEN"])
def test_no_text_makes_it_slow(part: str) -> None:
    """As much as a test may print, made of the beginnings of what is looked for."""
    text = part * (16_000 // len(part))
    began = time.process_time()
    Redactor(["own-token-of-the-worker"])(text)
    assert time.process_time() - began < 2
