"""The Cross-Repository CI Relay protocol, as a backend: take in what another relay dispatches, and report back to it.

Knows the wire format only (crcr-protocol 1.3, 1.4, 1.10, 1.11). A dispatch becomes a delivery in our own inbox, so a
run is opened, superseded and cancelled as for a webhook.
"""
