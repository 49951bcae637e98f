"""What makes a single value usable. Every function takes what was given and returns what is meant; its errors never
quote the value, which may be a secret.
"""

from __future__ import annotations

#: In characters, of a secret that people make up.
SECRET_MINIMUM = 16
