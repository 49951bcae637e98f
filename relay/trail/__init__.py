"""What relay and workers do alike beside their messages: how they read a secret from a file, and what they leave behind
for those who look after them, without a secret in it.

Both rooms import this one, so it must stay free of the database, the web and the queue, and knows none of our messages.
"""
