"""Publish how a city moves without publishing how anyone moves.

import hushway

job = hushway.prepare(hushway.load_plan("plan.toml"))
print(hushway.price(job).loss)
release = hushway.publish(job)
print(hushway.verify(release.folder).passed)
"""

from typing import TYPE_CHECKING, Any

import hushway.numerics.start  # noqa: F401  takes the time before any other module is read
from hushway.lazy_exports import face
from hushway.version import __version__

if TYPE_CHECKING:
    from hushway.errors import HushwayError
    from hushway.families.load import load_plan, prepare
    from hushway.families.reader import Release
    from hushway.families.reader import open_release as open  # noqa: A004  read as hushway.open
    from hushway.families.verify import verify
    from hushway.privacy.ledger import Ledger
    from hushway.release.forecast.crowd import ExpectedPopulation
    from hushway.steward.accounts import open_account
    from hushway.steward.audit import run_audit
    from hushway.steward.check import check
    from hushway.steward.evaluate import evaluate
    from hushway.steward.price import price
    from hushway.steward.publish import publish
    from hushway.steward.recommend import recommend

__all__ = [
    "ExpectedPopulation",
    "HushwayError",
    "Ledger",
    "Release",
    "__version__",
    "check",
    "evaluate",
    "load_plan",
    "open",
    "open_account",
    "prepare",
    "price",
    "publish",
    "recommend",
    "run_audit",
    "verify",
]

_find = face(
    __name__,
    {
        "errors": ("HushwayError",),
        "families.load": ("load_plan", "prepare"),
        "families.reader": ("Release", "open_release"),
        "families.verify": ("verify",),
        "privacy.ledger": ("Ledger",),
        "release.forecast.crowd": ("ExpectedPopulation",),
        "steward.accounts": ("open_account",),
        "steward.audit": ("run_audit",),
        "steward.check": ("check",),
        "steward.evaluate": ("evaluate",),
        "steward.price": ("price",),
        "steward.publish": ("publish",),
        "steward.recommend": ("recommend",),
    },
)


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used: `import hushway` itself stays light."""
    return _find("open_release" if name == "open" else name)


def __dir__() -> list[str]:
    return __all__
