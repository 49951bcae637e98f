"""Who may ask for what by a comment: by GitHub's permission in the repository where the comment is. Pure.

Source: https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
"""

from __future__ import annotations

from relay.comments.commands import Command, Verb

#: GitHub tells "maintain" as `write` and "triage" as `read`.
WRITERS = frozenset({"admin", "write"})
#: What changes nothing and tells of nothing but the commands themselves.
_FREE = frozenset({None, Verb.HELP})


def needs_permission(command: Command) -> bool:
    """Whether it matters who asks."""
    return command.verb not in _FREE


def may(command: Command, permission: str, *, is_author: bool) -> bool:
    """Whether somebody with this permission may: writers everything; whoever opened the pull request may know why a
    test of it ran."""
    if not needs_permission(command) or permission in WRITERS:
        return True
    return command.verb is Verb.WHY and command.target is None and is_author
