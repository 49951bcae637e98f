"""A Python of this machine whose `torch` is two files, so that a fault suite waits for the service and not for imports.

Everything else is the environment that runs the tests: pytest, and the relay and its workers as they are. Workers find
the torch of their own environment as they always do, import it in the sandbox and run upstream's tests beside it; the
tests of this suite ask nothing of it.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from pathlib import Path

_VERSION = '__version__ = "2.13.0"\ngit_version = "Unknown"\n'


def make_slim_python(folder: Path) -> Path:
    """The Python of a virtual environment in `folder`, made by hand: it stands on the environment that runs this."""
    packages = folder / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    (packages / "torch").mkdir(parents=True)
    (packages / "torch" / "version.py").write_text(_VERSION)
    (packages / "torch" / "__init__.py").write_text("from torch.version import __version__ as __version__\n")
    shared = "; ".join(f"site.addsitedir({place!r})" for place in site.getsitepackages())
    (packages / "shared.pth").write_text(f"import site; {shared}\n")
    home = Path(sys.base_prefix) / "bin"
    (folder / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\n")
    python = folder / "bin" / "python"
    python.parent.mkdir()
    # A link to the link: the sandbox shows what a Python stands on, and that environment has pytest.
    os.symlink(sys.executable, python)
    return python
