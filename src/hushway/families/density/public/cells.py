"""The public universe of a density: areas, bins of time, and the sites where people are seen."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import GeographyError
from hushway.families.density.public.cover import Cover
from hushway.geography.areas import Areas
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.privacy.public_facts import digest_of, public_facts


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Sites:
    """The public places that events name, and the site that each belongs to.

    Attributes:
        locations: Every place that an event may name, such as a phone tower.
        site: The site of each; -1 if it is left out. Towers at one point are one site.
    """

    locations: Locations
    site: IntArray

    @cached_property
    def digest(self) -> str:
        """A digest of the places and of their sites."""
        return digest_of({"locations": self.locations.digest, "site": self.site.tolist()})


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class DensityUniverse:
    """All that is public about a density before anything is measured.

    Attributes:
        areas: The areas that are published.
        periods: The bins of time, with the cycle "window".
        sites: Where people are seen; None if events carry positions, then every area is a site.
        cover: The cells of sites and areas that are measured.
    """

    areas: Areas
    periods: Periods
    sites: Sites | None
    cover: Cover

    def __post_init__(self) -> None:
        pieces = self.cover.pieces
        sites = len(self.areas) if self.sites is None else int(self.sites.site.max()) + 1
        if pieces.areas != len(self.areas) or pieces.sites != sites:
            raise GeographyError(
                "The cover was made for other sites or areas.",
                advice="Make the cover from the same lists.",
            )
        if self.periods.cycle != "window":
            raise GeographyError(
                "A density counts every bin of its window by itself.",
                advice='Give periods with cycle = "window".',
            )

    @property
    def name(self) -> str:
        """What one cell stands for."""
        return "visits by (area, bin)"

    @property
    def bins(self) -> int:
        """Number of bins of time."""
        return len(self.periods)

    @property
    def site_count(self) -> int:
        """Number of sites."""
        return self.cover.pieces.sites

    @property
    def size(self) -> int:
        """Number of published cells."""
        return len(self.areas) * self.bins

    @cached_property
    def digest(self) -> str:
        """A digest of the areas, the bins and the sites."""
        return digest_of(
            {
                "areas": self.areas.digest,
                "periods": self.periods.digest,
                "sites": None if self.sites is None else self.sites.digest,
                "cover": [
                    self.cover.member.tolist(),
                    np.flatnonzero(self.cover.is_site).tolist(),
                ],
            }
        )
