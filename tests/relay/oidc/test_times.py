"""When a token is good, by our clock."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.oidc.times import OURS, STRICT, BadTimesError, TimeRules, valid_until
from tests.relay.oidc.issuing import NOW

AT = NOW.timestamp()


def verdict(rules: TimeRules, **claims: object) -> datetime | str:
    """Until when, or why not."""
    try:
        return valid_until(claims, rules, NOW)
    except BadTimesError as error:
        return str(error)


def test_the_end_is_the_tokens_own_or_an_hour_after_issue_whichever_is_first() -> None:
    """Both with the leeway for two clocks."""
    assert verdict(OURS, iat=AT, exp=AT + 300) == NOW + timedelta(seconds=330)
    assert verdict(OURS, iat=AT, exp=AT + 86_400) == NOW + timedelta(seconds=3_630)


@pytest.mark.parametrize(("late", "good"), [(29.9, True), (30, False), (31, False)])
def test_ours_forgives_a_clock_that_is_half_a_minute_off(late: float, good: bool) -> None:
    """In either direction."""
    assert isinstance(verdict(OURS, iat=AT - 60, exp=AT - late), datetime) is good
    assert isinstance(verdict(OURS, iat=AT + late, exp=AT + 300), datetime) is (good or late == 30)


def test_strict_forgives_nothing_and_bounds_nothing() -> None:
    """As the original: no leeway, no age, no need of an end."""
    assert isinstance(verdict(STRICT, exp=AT - 1), str)
    assert isinstance(verdict(STRICT, nbf=AT + 1), str)
    assert isinstance(verdict(STRICT, iat=AT - 864_000, exp=AT + 1), datetime)
    assert verdict(STRICT) == NOW + timedelta(days=1)


@pytest.mark.parametrize("name", ["iat", "exp"])
def test_ours_needs_both_ends(name: str) -> None:
    """And says which is missing."""
    claims = {"iat": AT, "exp": AT + 300}
    del claims[name]
    assert f"'{name}'" in str(verdict(OURS, **claims))


NUMBERS = st.integers() | st.floats()
ODD = st.none() | st.booleans() | st.text() | NUMBERS | st.lists(NUMBERS) | st.dictionaries(st.text(), NUMBERS)


@given(iat=ODD, nbf=ODD, exp=ODD, strict=st.booleans())
def test_any_value_of_a_time_ends_in_a_verdict(iat: object, nbf: object, exp: object, strict: bool) -> None:
    """JSON holds true, 1e999, NaN and numbers without end; a moment that is given lies in the future."""
    found = verdict(STRICT if strict else OURS, iat=iat, nbf=nbf, exp=exp)
    assert isinstance(found, str) or found > NOW


@pytest.mark.parametrize("value", [True, "5", [], {}, float("nan"), float("inf"), -1, 10**400])
@pytest.mark.parametrize("name", ["iat", "nbf", "exp"])
def test_what_is_no_time_is_refused_by_name(name: str, value: object) -> None:
    """In both modes."""
    for rules in (OURS, STRICT):
        assert f"'{name}'" in str(verdict(rules, **({"iat": AT, "exp": AT + 300} | {name: value})))
