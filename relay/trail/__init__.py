"""What relay and workers leave behind for those who look after them: log lines and spans, with no secret in either.

Both rooms import this one, so it must stay free of the database, the web and the queue, and knows none of our messages.
"""
