"""The version of hushway, which certificates name."""

__version__ = "0.1.0"
