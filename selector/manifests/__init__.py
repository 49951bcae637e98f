"""Stage 4: manifests in torch-spyre's form, loaded, checked, and applied to base tests and to collected tests."""

from selector.manifests.admit import admit
from selector.manifests.document import MAX_BYTES, ManifestDocument
from selector.manifests.findings import Finding, ManifestError, Severity, summary
from selector.manifests.load import ManifestSet, load_manifests
from selector.manifests.plan import NOT_IN_MANIFESTS, plan
from selector.manifests.upstream import upstream_file

__all__ = [
    "MAX_BYTES",
    "NOT_IN_MANIFESTS",
    "Finding",
    "ManifestDocument",
    "ManifestError",
    "ManifestSet",
    "Severity",
    "admit",
    "load_manifests",
    "plan",
    "summary",
    "upstream_file",
]
