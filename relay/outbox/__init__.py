"""What must leave the relay: rows written with the decision, sent afterwards until each is settled, once.

Owns leases, order, retries, dead letters and replays. Knows no protocol: what a row sends is a `Sender`'s business.
"""
