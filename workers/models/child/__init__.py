"""The part that runs inside a child process, beside torch.

It takes a check as plain JSON and imports nothing of ours but what children have, so that any Python with torch can run
it.
"""
