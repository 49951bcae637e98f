"""The description of the API: FastAPI's document, and what it does not know by itself.

Each operation says which token it takes under the settings, how it refuses, in the form of its surface and by example,
what one asks it and what it answers. A route adds only what is its own: a summary, a docstring, `refuses(...)`; its
models have an example in `relay.web.description.examples` or on the class.
"""

from relay.web.description.document import DescribedApi

__all__ = ["DescribedApi"]
