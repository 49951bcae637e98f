"""The allowlist: which backends take part, at which level, for which events. One grammar, one loader, one identity.

Owns how the file is read, checked and kept (crcr-protocol 2). Sends nothing and knows no GitHub event.
"""
