"""Manifests written by machine: from results, from streaks of passes, from sources with shared sections, and exports.

Every text made here is loaded and resolved before it is proposed.
"""
