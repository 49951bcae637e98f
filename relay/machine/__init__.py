"""The service on one machine: sockets, child processes, the state folder, and how local programs find each other.

Knows workers only by the command that starts them. What the service does is not decided here.
"""
