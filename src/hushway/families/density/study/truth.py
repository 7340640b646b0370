"""The exact density that a release is compared with: for the steward's own eyes."""

import numpy as np
from scipy import sparse

from hushway.arrays import FloatArray, IntArray
from hushway.errors import DataError
from hushway.families.density.public.cells import DensityUniverse

_MOST_KEYS = 1 << 62


def exact_visits(
    person: IntArray, site: IntArray, time_bin: IntArray, sites: int, bins: int
) -> IntArray:
    """Returns how many distinct persons were seen at each site in each bin.

    A person may count at several sites in one bin, and counts once at each. Nobody is cut down, so
    the result has no bound and is never to be released.

    Args:
        person: Number of the person of each row, from 0.
        site: Site of each row; below 0 if the row is at none.
        time_bin: Bin of each row; below 0 if the row is outside the window.
        sites: Number of sites.
        bins: Number of bins.

    Returns:
        Visits by (site, bin).

    Raises:
        DataError: Persons are not numbered from 0, or a site or a bin is beyond the last.
    """
    cells = sites * bins
    kept = (site >= 0) & (time_bin >= 0)
    if not kept.all():
        person, site, time_bin = person[kept], site[kept], time_bin[kept]
    if len(person) == 0:
        return np.zeros((sites, bins), dtype=np.int64)
    if person.min() < 0 or int(person.max()) >= _MOST_KEYS // cells:
        raise DataError(
            "Persons must be numbered from 0, and not beyond what fits in 62 bits with the cells.",
            advice="Number the persons in a row before counting them.",
        )
    if int(site.max()) >= sites or int(time_bin.max()) >= bins:
        raise DataError(
            "A row names a site or a bin that is not in the list.",
            advice="Look up sites and bins in the universe that the visits are counted for.",
        )
    # One number for each row, so that a sort brings the repeated ones together.
    keys = person.astype(np.int64)
    keys *= sites
    keys += site
    keys *= bins
    keys += time_bin
    keys.sort()
    first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return np.bincount(keys[first] % cells, minlength=cells).reshape(sites, bins)


def area_truth(universe: DensityUniverse, visits: FloatArray | IntArray) -> FloatArray:
    """Returns the visits of every area in every bin: formula (1) of the paper.

    A visit at a site is shared among areas by how much of the site's cell lies in each.

    Args:
        universe: The public areas, sites and cover.
        visits: Visits by (site, bin).
    """
    area, site, share = universe.cover.site_shares()
    shares = sparse.csr_array(
        (share, (area, site)), shape=(len(universe.areas), universe.site_count)
    )
    return np.asarray(shares @ visits.astype(np.float64))
