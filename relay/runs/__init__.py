"""What happens to a run, from the moment it is opened to its conclusion. Knows the record, not HTTP."""
