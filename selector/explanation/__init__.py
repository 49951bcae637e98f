"""Why each test runs or does not: records for programs, a summary of a page, and what would change it.

Reads outcomes, decides nothing. Evidence quotes the change and is not to be trusted; who shows it has to clean it.
"""

from selector.explanation.advice import what_would_change
from selector.explanation.naming import Named, find_tests
from selector.explanation.record import TAKES_ALL, Decision, Explanation, as_object, deciding, decision_of, explain
from selector.explanation.summary import Summary, Tally, summarise

__all__ = [
    "TAKES_ALL",
    "Decision",
    "Explanation",
    "Named",
    "Summary",
    "Tally",
    "as_object",
    "deciding",
    "decision_of",
    "explain",
    "find_tests",
    "summarise",
    "what_would_change",
]
