"""The Cross-Repository CI Relay protocol, as the relay: dispatches out, callbacks in, check runs, re-runs, clean-up.

Owns the rules of the protocol (crcr-protocol 1 to 3). What must leave goes through `relay.outbox`; pages and the
results store are elsewhere.
"""
