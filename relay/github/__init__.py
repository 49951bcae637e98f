"""GitHub's API, as a GitHub App: tokens, dispatches, check runs, re-runs, reads. Knows no allowlist and no record."""
