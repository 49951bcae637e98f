"""What the loaded device is called. The library says under which name it is registered; torch has room for one."""

from __future__ import annotations


def device_name() -> str:
    """`spyre`, unless the library was built under another name; torch's name for a free place before it is loaded."""
    import torch  # noqa: PLC0415 - the module must be importable without torch

    name: str = torch._C._get_privateuse1_backend_name()
    return name
