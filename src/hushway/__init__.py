"""Publish how a city moves without publishing how anyone moves.

import hushway

print(hushway.price("plan.toml").loss)
release = hushway.publish("plan.toml")
print(hushway.verify(release.folder).passed)
"""

from typing import TYPE_CHECKING

import hushway.numerics.start  # noqa: F401  takes the time before any other module is read
from hushway.lazy_exports import attach
from hushway.version import __version__

__all__ = [
    "HushwayError",
    "Ledger",
    "Release",
    "Series",
    "__version__",
    "ask",
    "audit",
    "check",
    "compare",
    "demo",
    "density",
    "design",
    "dossier",
    "evaluate",
    "init",
    "keys",
    "ledger",
    "links",
    "load_plan",
    "od",
    "open",
    "plan",
    "prepare",
    "price",
    "publish",
    "recommend",
    "revise",
    "sequences",
    "series",
    "serve",
    "site",
    "synthesize",
    "verify",
    "warm",
]

if TYPE_CHECKING:
    from hushway.errors import HushwayError
    from hushway.families.asking import ask, synthesize
    from hushway.families.load import load_plan, prepare
    from hushway.families.reader import Release
    from hushway.families.reader import open_release as open  # noqa: A004  read as hushway.open
    from hushway.families.series import Series
    from hushway.families.series_folder import series
    from hushway.privacy.ledger import Ledger
    from hushway.sites.write import site
    from hushway.steward import keys, ledger, plan
    from hushway.steward.audit import audit
    from hushway.steward.check import check
    from hushway.steward.compare import compare
    from hushway.steward.demo import demo
    from hushway.steward.dossier import dossier
    from hushway.steward.frames import density, links, od, sequences
    from hushway.steward.init import init
    from hushway.steward.price import price
    from hushway.steward.publish import publish
    from hushway.steward.recommend import recommend
    from hushway.steward.revise import revise
    from hushway.steward.transit import design, evaluate
    from hushway.steward.verify import verify
    from hushway.steward.warm import warm
    from hushway.workbench.serve import serve
else:
    __getattr__, __dir__ = attach(__name__, __all__)
