"""What the demo's change must lead to, test by test, and where a finished run differs from it."""

from __future__ import annotations

from collections.abc import Iterable

from relay.views import Conclusion, RunSummary, TestView, Verdict

_INDEXING = "test/test_demo_indexing.py::TestDemoIndexingSPYRE::"
_OPS = "test/test_demo_ops.py::TestDemoOpsSPYRE::"

#: These fail on the device because of the change, and must be told from everything else.
REGRESSIONS = frozenset(
    {
        *(
            f"{_INDEXING}test_unravel_index_roundtrip_shape{shape}_spyre_{dtype}"
            for shape in range(3)
            for dtype in ("int32", "int64")
        ),
        f"{_INDEXING}test_unravel_index_finds_the_maximum_spyre",
        f"{_OPS}test_indexing_matches_cpu_unravel_index_spyre_int64",
    }
)
#: Expected to fail by the manifest, before and after the change.
KNOWN_FAILURES = frozenset({f"{_INDEXING}test_unravel_index_builds_sparse_spyre"})
#: Named by the change as well, and untouched by its fault.
MUST_PASS = frozenset(
    {
        f"{_INDEXING}test_unravel_index_refuses_floats_spyre",
        f"{_INDEXING}test_unravel_index_refuses_negative_sizes_spyre",
    }
)


def differences(run: RunSummary, tests: Iterable[TestView]) -> list[str]:
    """Sentences saying where the run is not as designed; none when all is well."""
    verdicts = {test.id: test.verdict for test in tests}
    found = []
    if run.conclusion is not Conclusion.FAILURE:
        found.append(f"the run concluded {run.conclusion}, not failure: {run.headline}")
    for wanted, ids in ((Verdict.REGRESSION, REGRESSIONS), (Verdict.KNOWN_FAILURE, KNOWN_FAILURES)):
        found += [
            f"{id_} is {verdicts.get(id_, 'not planned')}, not {wanted}"
            for id_ in sorted(ids)
            if verdicts.get(id_) != wanted
        ]
    found += [
        f"{id_} is {verdicts.get(id_, 'not planned')}, not ok"
        for id_ in sorted(MUST_PASS)
        if verdicts.get(id_) != Verdict.OK
    ]
    others = verdicts.keys() - REGRESSIONS - KNOWN_FAILURES - MUST_PASS
    found += [f"{id_} is {verdicts[id_]}, not ok" for id_ in sorted(others) if verdicts[id_] != Verdict.OK]
    return found
