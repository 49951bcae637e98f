"""The plan: what of a selection runs within a budget, what runs by lot, and what that costs and risks.

Pure arithmetic on candidates, durations and probabilities. A test that must run is never cut.
"""

from selector.cut.ground import Ground
from selector.cut.planning import CutPlan, cut_plan
from selector.cut.request import WHOLE, Cut

__all__ = ["WHOLE", "Cut", "CutPlan", "Ground", "cut_plan"]
