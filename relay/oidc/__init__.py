"""Tokens of CI jobs: which issuers are believed, with which keys, and for which repository a token speaks.

Owns verification (crcr-protocol 1.5). Whether that repository may do anything is the allowlist's matter, whether a
token was used before is the replay guard's.
"""
