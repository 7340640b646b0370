"""A process that may use little memory is told so before any library is loaded.

Below a limit of their own, the libraries for numbers, rows and machine code do not raise errors:
they end the process, or turn round for ever.
"""

from hushway.errors import HushwayError

try:
    import resource
except ImportError:  # pragma: no cover  not on Windows
    resource = None  # type: ignore[assignment]

# Measured: with these all libraries are loaded and a release of the demo is priced.
_LEAST_BYTES = 1_200_000_000


def refuse_little_address_space() -> None:
    """Refuses to start where the libraries could not be loaded.

    Raises:
        HushwayError: The process may not use enough memory.
    """
    if resource is None:  # pragma: no cover  not on Windows
        return
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    if allowed not in (resource.RLIM_INFINITY, -1) and allowed < _LEAST_BYTES:
        raise HushwayError(
            f"This process may use {allowed / 1e6:,.0f} MB of address space, and the libraries of "
            f"hushway need {_LEAST_BYTES / 1e6:,.0f} MB before they do anything.",
            advice="Raise the limit (ulimit -v), best to twice the plan's memory_limit.",
        )
