"""Manifests against other manifests, and against another upstream tree: what changes for which test."""
