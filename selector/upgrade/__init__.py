"""Two upstream trees instead of a diff: what a release changes about the tests of a device."""
