"""The closed set of events, and the parser from GitHub's JSON to it.

Strict about the fields that are used, blind to all others, so that a new field upstream breaks nothing. It does no I/O
and never raises over a payload: what cannot be used becomes `Ignored` with the reason.
Sources: https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request, `#push` and `#issue_comment`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

#: Events whose signature is checked at all; others are answered unseen, whatever their signature.
SUPPORTED_EVENTS = frozenset({"pull_request", "push", "check_run", "check_suite"})

TITLE_CAP = 500
BODY_CAP = 20_000
REF_CAP = 300

LABEL_CAP = 100
#: GitHub's own, in characters.
COMMENT_CAP = 65_536
#: What a comment has to hold (casefolded) to be of interest at all.
COMMAND_PREFIX = "/relay"

_CHANGING_ACTIONS = frozenset({"opened", "reopened", "synchronize"})
#: GitHub allows 100 labels on an issue.
_LABELS_CAP = 100
_SHA = re.compile(r"[0-9a-f]{40}")
_ZERO_SHA = "0" * 40
_BRANCHES = "refs/heads/"

# PostgreSQL's text type holds no NUL, and lone surrogates (valid in JSON) have no UTF-8 form.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class PullRequestChanged:
    """A pull request has a head to test: a new one, or the same with another `label` that asks for every test. `title`,
    `body`, `labels` and the login `author` are untrusted text, capped. `moved_at`: upstream's moment of it."""

    repo: str
    number: int
    base_ref: str
    base_sha: str
    head_sha: str
    title: str
    body: str
    author: str = ""
    labels: tuple[str, ...] = ()
    label: str = ""
    moved_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PullRequestClosed:
    """Nothing more comes of this pull request. Of one that was `merged` it is still of interest what it breaks."""

    repo: str
    number: int
    merged: bool = False
    moved_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PushReceived:
    """The default branch moved from `before` to `after`. `title` is the head commit's subject, untrusted."""

    repo: str
    ref: str
    before: str
    after: str
    title: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing to do, and why: a sentence for the operator that may quote upstream."""

    reason: str


@dataclass(frozen=True, slots=True)
class CommentCreated:
    """Somebody wrote a comment on a pull request that names this relay. `login` wrote it, `pull_author` opened the pull
    request, `at` is when; `app_id` is the GitHub App that wrote it for them, None when they did so themselves. `text`
    is untrusted, capped."""

    repo: str
    number: int
    comment_id: int
    login: str
    pull_author: str
    app_id: int | None
    at: str
    text: str


Event = PullRequestChanged | PullRequestClosed | PushReceived | CommentCreated | Ignored


class _UnusableError(Exception):
    """A field that we need is not there, or is not what GitHub documents."""


def names_repository(payload: Mapping[str, object], repo: str) -> bool:
    """Whether the payload is about `repo`. GitHub's repository names are equal when only letter case differs."""
    repository = payload.get("repository")
    name = repository.get("full_name") if isinstance(repository, dict) else None
    return isinstance(name, str) and name.casefold() == repo.casefold()


def parse_event(name: str, payload: Mapping[str, object], full_labels: Collection[str] = ()) -> Event:
    """Our event for a GitHub event `name` and its decoded payload. A label changes what is to be tested only when it is
    one of `full_labels` (casefolded)."""
    try:
        if name == "pull_request":
            return _pull_request(payload, full_labels)
        if name == "push":
            return _push(payload)
        if name == "issue_comment":
            return _comment(payload)
    except _UnusableError as problem:
        return Ignored(f"malformed {name} payload: {problem}")
    return Ignored(f"the relay does not act on {name[:REF_CAP]} events")


def _pull_request(payload: Mapping[str, object], full_labels: Collection[str]) -> Event:
    action = _text(payload, "action", cap=REF_CAP)
    label = _label(payload.get("label")) if action == "labeled" else ""
    asks = label.casefold() in full_labels
    if label and not asks:
        return Ignored(f"the label {label} does not ask for every test")
    if action not in _CHANGING_ACTIONS and action != "closed" and not asks:
        return Ignored(f"the relay does not act on pull_request {action}")
    repo = _text(_object(payload, "repository"), "full_name", cap=REF_CAP)
    number = _number(payload, "number")
    if action == "closed":
        told = payload.get("pull_request")
        closed = told if isinstance(told, dict) else {}
        return PullRequestClosed(repo, number, closed.get("merged") is True, moved_at(closed))
    pull = _object(payload, "pull_request")
    base = _object(pull, "base")
    return PullRequestChanged(
        repo=repo,
        number=number,
        base_ref=_text(base, "ref", cap=REF_CAP),
        base_sha=_sha(base, "sha"),
        head_sha=_sha(_object(pull, "head"), "sha"),
        title=_text(pull, "title", cap=TITLE_CAP, absent=""),
        body=_text(pull, "body", cap=BODY_CAP, absent=""),
        author=_login(pull.get("user")),
        labels=_labels(pull.get("labels")),
        label=label,
        moved_at=moved_at(pull),
    )


def moved_at(pull: Mapping[str, object]) -> datetime | None:
    """When a `pull_request` object of GitHub's stood as it says (`updated_at`); None when it does not say so."""
    told = pull.get("updated_at")
    try:
        return datetime.fromisoformat(told).astimezone(UTC) if isinstance(told, str) else None
    except (ValueError, OverflowError):
        return None


def _labels(labels: object) -> tuple[str, ...]:
    """The names of labels. What is not as documented names none: a label is a wish, and no reason to test nothing."""
    named = map(_label, labels[:_LABELS_CAP]) if isinstance(labels, list) else ()
    return tuple(name for name in named if name)


def _label(label: object) -> str:
    name = label.get("name") if isinstance(label, dict) else None
    return _storable(name[:LABEL_CAP]) if isinstance(name, str) else ""


def _login(user: object) -> str:
    login = user.get("login") if isinstance(user, dict) else None
    return _storable(login[:LABEL_CAP]) if isinstance(login, str) else ""


def _push(payload: Mapping[str, object]) -> Event:
    repository = _object(payload, "repository")
    ref = _text(payload, "ref", cap=REF_CAP)
    branch = _text(repository, "default_branch", cap=REF_CAP)
    if ref != _BRANCHES + branch:
        return Ignored(f"push to {ref}, not to the default branch {branch}")
    before, after = _sha(payload, "before"), _sha(payload, "after")
    if _ZERO_SHA in (before, after):
        return Ignored(f"{ref} was {'deleted' if after == _ZERO_SHA else 'created'}; there is no change to test")
    return PushReceived(
        repo=_text(repository, "full_name", cap=REF_CAP),
        ref=ref,
        before=before,
        after=after,
        title=_commit_subject(payload.get("head_commit")),
    )


def _commit_subject(commit: object) -> str:
    if not isinstance(commit, dict):
        return ""
    lines = _text(commit, "message", cap=BODY_CAP, absent="").splitlines()
    return lines[0][:TITLE_CAP] if lines else ""


def _comment(payload: Mapping[str, object]) -> Event:
    action = _text(payload, "action", cap=REF_CAP)
    issue, comment = _object(payload, "issue"), _object(payload, "comment")
    if action != "created":
        return Ignored(f"the relay does not act on comments that are {action}")
    if not isinstance(issue.get("pull_request"), dict):
        return Ignored("the comment is on an issue, not on a pull request")
    writers = (_object(comment, "user"), _object(payload, "sender"))
    if any(writer.get("type") != "User" for writer in writers):
        return Ignored("the comment is no person's: bots are not answered")
    text = _text(comment, "body", cap=COMMENT_CAP, absent="")
    if COMMAND_PREFIX not in text.casefold():
        return Ignored("the comment has no command for this relay")
    app = comment.get("performed_via_github_app")
    return CommentCreated(
        repo=_text(_object(payload, "repository"), "full_name", cap=REF_CAP),
        number=_number(issue, "number"),
        comment_id=_number(comment, "id", most=2**53),
        login=_text(writers[0], "login", cap=LABEL_CAP),
        pull_author=_login(issue.get("user")),
        app_id=_number(app, "id") if isinstance(app, dict) else None,
        at=_text(comment, "created_at", cap=REF_CAP),
        text=text,
    )


def _object(payload: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = payload.get(key)
    if not isinstance(value, dict):
        raise _UnusableError(f"{key} is not an object")
    return value


def _text(payload: Mapping[str, object], key: str, *, cap: int, absent: str | None = None) -> str:
    """A string field, capped. `absent` stands in for null or nothing where GitHub allows that."""
    value = payload.get(key)
    if value is None and absent is not None:
        return absent
    if not isinstance(value, str):
        raise _UnusableError(f"{key} is not a string")
    return _storable(value[:cap])


def _storable(text: str) -> str:
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _number(payload: Mapping[str, object], key: str, *, most: int = 2**31) -> int:
    value = payload.get(key)
    # JSON true is an int to Python; the upper bound is what the databases' integer columns hold.
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < most:
        raise _UnusableError(f"{key} is not a positive number")
    return value


def _sha(payload: Mapping[str, object], key: str) -> str:
    value = payload.get(key)
    if not isinstance(value, str) or not _SHA.fullmatch(value):
        raise _UnusableError(f"{key} is not a 40-digit hexadecimal commit id")
    return value
