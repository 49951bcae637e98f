"""Live pages: one reader of the record's events for each process, however many pages are open.

Owns the reader, the events it keeps for those who come back, and reads that readers of the same page share. It writes
nothing and knows no page.
"""
