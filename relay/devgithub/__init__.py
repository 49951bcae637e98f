"""A GitHub on this machine: enough of it for a relay and its backends to be tried and tested without the real one.

It keeps everything in memory, judges credentials and limits as GitHub does, and sends signed webhooks. It imports
nothing of the relay but the webhook signature, and the relay never imports it: the two meet over HTTP only.
"""

from relay.devgithub.app import create_devgithub
from relay.devgithub.checks import rerequest_check_run, rerequest_suite
from relay.devgithub.comments import say
from relay.devgithub.faults import Fault
from relay.devgithub.gate import UNDESCRIBED
from relay.devgithub.pulls import close_pull, edit_pull, label_pull, open_pull, push, reopen_pull, synchronize_pull
from relay.devgithub.records import App, Delivery, Dispatch, RefusedError, Repository
from relay.devgithub.sources import Commit, GitSource, MemorySource
from relay.devgithub.state import DevGitHub
from relay.devgithub.workflow_runs import move_run, start_run

__all__ = [
    "UNDESCRIBED",
    "App",
    "Commit",
    "Delivery",
    "DevGitHub",
    "Dispatch",
    "Fault",
    "GitSource",
    "MemorySource",
    "RefusedError",
    "Repository",
    "close_pull",
    "create_devgithub",
    "edit_pull",
    "label_pull",
    "move_run",
    "open_pull",
    "push",
    "reopen_pull",
    "rerequest_check_run",
    "rerequest_suite",
    "say",
    "start_run",
    "synchronize_pull",
]
