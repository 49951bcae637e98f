"""torch built from a changed tree by the operator's command, and kept."""
