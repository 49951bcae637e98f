"""Upstream's databases of operators, read off their text, and what differs between two of them."""
