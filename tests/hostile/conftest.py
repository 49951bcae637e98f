"""Claims that fail say what they saw."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.hostile.claims")
