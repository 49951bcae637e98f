"""Runs upstream PyTorch test files in child processes: crash-safe, bounded in time, one outcome per test.

The modules here run on the worker's side, `child` among the tests. Importing this package imports nothing: the child
side has to do without everything the worker's side needs.
"""
