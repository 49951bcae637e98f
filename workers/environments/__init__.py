"""The named environments of a machine: which there are, what is in them, and which is nearest to a change."""
