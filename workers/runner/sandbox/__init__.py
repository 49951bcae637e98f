"""What stands between the machine and test code nobody has read: how a program is started, and what it can reach.

Owns the start and the walls, and knows nothing of tests. `find_sandbox` gives the strongest one that works here.
"""

from workers.runner.sandbox.find import SandboxMode, SandboxUnavailableError, choose_sandbox, find_sandbox
from workers.runner.sandbox.guarded import Guarded, Unconfined
from workers.runner.sandbox.interpreter import interpreter_folders
from workers.runner.sandbox.launch import Launch, Sandbox, SandboxLimits

__all__ = [
    "Guarded",
    "Launch",
    "Sandbox",
    "SandboxLimits",
    "SandboxMode",
    "SandboxUnavailableError",
    "Unconfined",
    "choose_sandbox",
    "find_sandbox",
    "interpreter_folders",
]
