"""The map of functions to the tests that executed them: one file, written from recordings, read by stage 2."""

from selector.executed.function_map import FunctionMap, MapError, Recording, open_map, read_map, record, write_map

__all__ = ["FunctionMap", "MapError", "Recording", "open_map", "read_map", "record", "write_map"]
