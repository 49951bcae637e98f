"""The relay: the record of what arrived, what was decided and what came back."""

__version__ = "0.1.0"
