"""Commands in comments on pull requests: read, judged, carried out as operators' actions, answered in one comment.

Knows GitHub only by `relay.parts`; what arrives is taken in by `relay.intake`, what leaves goes through the outbox.
"""
