"""Upstream's sources on this machine: mirrors, work trees, what a change touches, the wheel with the change over it."""
