"""The relay's settings: read once from `RELAY_*` variables, the original relay's or a folder of secrets, and the three
secrets a first start makes for itself.

Owns every environment read of the service. Nothing else may look at `os.environ`, and no secret leaves its `SecretStr`
except at the place that compares or sends it.
"""

from relay.settings.first_start import SECRET_FILES, with_secrets
from relay.settings.model import MEBIBYTE, RelaySettings, default_manifest_dir
from relay.settings.original import ALL_NAMES as ORIGINAL_VARIABLES
from relay.settings.protocol import missing_for_protocol, require_comments, require_protocol
from relay.settings.sources import variable_of

__all__ = [
    "MEBIBYTE",
    "ORIGINAL_VARIABLES",
    "SECRET_FILES",
    "RelaySettings",
    "default_manifest_dir",
    "missing_for_protocol",
    "require_comments",
    "require_protocol",
    "variable_of",
    "with_secrets",
]
