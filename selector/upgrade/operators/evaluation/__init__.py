"""Working out the values of upstream's test databases from their text, without running any of it.

A small part of Python, enough for lists of entries, the functions that give dtypes and the classes of entries: what is
outside it stays an expression that nobody worked out, and is told. Nothing is imported, and no value leads out of the
tree: a hostile database costs steps, of which there is a bound.
"""

from selector.upgrade.operators.evaluation.interpreter import Interpreter
from selector.upgrade.operators.evaluation.values import Applied, Dtype, External, Instance, Unread, Value

__all__ = ["Applied", "Dtype", "External", "Instance", "Interpreter", "Unread", "Value"]
