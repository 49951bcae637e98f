"""Text that upstream wrote, as something every message, store and page can hold."""

from __future__ import annotations


def storable(text: str) -> str:
    """`text` as valid Unicode without NUL: neither JSON nor PostgreSQL takes lone surrogates or NUL."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
