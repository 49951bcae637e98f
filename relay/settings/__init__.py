"""The relay's settings: read once from `RELAY_*` variables, and the three secrets a first start makes for itself.

Owns every environment read of the service. Nothing else may look at `os.environ`, and no secret leaves its `SecretStr`
except at the place that compares or sends it.
"""

from relay.settings.first_start import SECRET_FILES, with_secrets
from relay.settings.model import MEBIBYTE, RelaySettings, default_manifest_dir

__all__ = ["MEBIBYTE", "SECRET_FILES", "RelaySettings", "default_manifest_dir", "with_secrets"]
