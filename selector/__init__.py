"""From an upstream change to the tests it can affect, with a reason for every test in or out.

A pure library: it reads a tree through `SourceTree` and asks a model through `LlmClient`; it opens nothing else.
"""
