"""Worker side: check out an upstream change, select, collect, plan, run on the device, report."""
