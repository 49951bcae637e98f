"""What comes in from GitHub: signature, our own closed set of events, the inbox of deliveries.

Nothing past this package knows GitHub's JSON.
"""
