"""Publish how a city moves without publishing how anyone moves."""

__version__ = "0.1.0"
