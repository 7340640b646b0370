"""The pages that hushway shows in a browser, built and ready; `web/` has their sources."""

from importlib.resources import files
from importlib.resources.abc import Traversable


def bundle() -> Traversable:
    """Returns the folder of the built pages."""
    return files("hushway.web")
