"""Text from outside on a line of ours: nothing in it may act on a terminal or change how the rest is shown."""

from __future__ import annotations


def printable(text: str) -> str:
    """The same length, with a space for each control character, mark of direction and half of a character."""
    return "".join(character if character.isprintable() else " " for character in text)
