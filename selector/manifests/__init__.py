"""Stage 4: manifests in torch-spyre's form, loaded, checked, and applied to base tests and to collected tests."""

from selector.manifests.admit import admit
from selector.manifests.decision import NOT_IN_MANIFESTS
from selector.manifests.document import MAX_BYTES, ManifestDocument
from selector.manifests.findings import Finding, ManifestError, Severity, summary
from selector.manifests.load import ManifestSet, load_manifests
from selector.manifests.plan import plan
from selector.manifests.profiles import Profile
from selector.manifests.resolution import Resolution, Table, Trace, resolve, trace
from selector.manifests.upstream import upstream_file

__all__ = [
    "MAX_BYTES",
    "NOT_IN_MANIFESTS",
    "Finding",
    "ManifestDocument",
    "ManifestError",
    "ManifestSet",
    "Profile",
    "Resolution",
    "Severity",
    "Table",
    "Trace",
    "admit",
    "load_manifests",
    "plan",
    "resolve",
    "summary",
    "trace",
    "upstream_file",
]
