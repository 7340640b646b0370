"""What the synthetic Paris holds, as tables: `python -m hushway.families.density.city.describe`."""

from collections.abc import Mapping

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.density.city import paris as figures
from hushway.families.density.city.paris import CityVisits, DensityCity, paris
from hushway.families.density.city.rhythms import HOURS
from hushway.families.density.public.cover import Cover
from hushway.families.density.public.tower_geometry import tower_geometry
from hushway.study.results import facts_table, matched_table, print_tables

_KEPT = 30


def tables(city: DensityCity) -> str:
    """Returns what is matched and what is invented as two Markdown tables."""
    visits = city.visits()
    geometry = tower_geometry(city.areas, city.towers, "refuse")
    matched = _matched(city, visits, geometry.cover)
    invented = {**_weekly(city), **_personal(city, visits), **_spatial(city, geometry.cover)}
    return f"{matched_table(matched)}\n{facts_table({'made': invented})}"


def _matched(city: DensityCity, visits: CityVisits, cover: Cover) -> Mapping[str, tuple[str, str]]:
    each = np.bincount(visits.person)
    return {
        "people": (f"{figures.PEOPLE:,}", f"{len(each):,}"),
        "towers": (f"{figures.TOWERS:,}", f"{len(city.towers):,}"),
        "areas": (f"{figures.AREAS}", f"{len(city.areas)}"),
        "hours": (f"{HOURS}", f"{city.hours}"),
        "visits of a person, mean": (f"{figures.MEAN_VISITS}", f"{each.mean():.2f}"),
        "visits of a person, deviation": (f"{figures.DEVIATION_OF_VISITS}", f"{each.std():.2f}"),
        "visits of a person, most": (f"{figures.MOST_VISITS}", f"{each.max()}"),
        "cells of the smallest cover": (f"{figures.COVER}", f"{len(cover)}"),
        "mean hourly count of an area": (
            f"{figures.MEAN_COUNT_OF_AREAS}",
            f"{len(visits) / len(city.areas) / city.hours:.0f}",
        ),
    }


def _weekly(city: DensityCity) -> Mapping[str, str]:
    days = city.counts.sum(axis=0).reshape(7, 24)
    quiet = 100 * days.min(axis=1) / days.max(axis=1)
    typical = np.maximum(1.0, np.median(city.counts, axis=1))
    weekend = days[5:].sum(axis=1) / days[:5].sum(axis=1).mean()
    return {
        "visits": f"{city.counts.sum():,}",
        "events": f"{len(city):,}",
        "events beyond the first of a visit": f"{100 * (len(city) / city.counts.sum() - 1):.0f}%",
        "quietest hour of a day, of its busiest": f"{quiet.min():.1f}% to {quiet.max():.1f}%",
        "visits on Saturday, of a weekday's": f"{100 * weekend[0]:.0f}%",
        "visits on Sunday, of a weekday's": f"{100 * weekend[1]:.0f}%",
        "visits at a tower in an hour, median": f"{np.median(city.counts):.0f}",
        "visits at a tower in an hour, most": f"{city.counts.max():,}",
        "towers with a peak above 8 times their median": (
            f"{(city.counts.max(axis=1) > 8 * typical).sum()}"
        ),
    }


def _personal(city: DensityCity, visits: CityVisits) -> Mapping[str, str]:
    each = np.bincount(visits.person)
    # Visits are in the order of persons and hours.
    another = (np.diff(visits.person) != 0) | (np.diff(visits.hour) != 0)
    hours = np.bincount(visits.person[np.append(True, another)])
    cut = np.minimum(hours, _KEPT)
    middling = (each >= 8) & (each <= 12)
    few = np.repeat(middling, each)
    places = np.unique(visits.person[few].astype(np.int64) * len(city.towers) + visits.tower[few])
    return {
        "visits of a person, median": f"{np.median(each):.0f}",
        "visits of a person, 99th percentile": f"{np.quantile(each, 0.99):.0f}",
        "towers of people with 8 to 12 visits, mean": (f"{len(places) / middling.sum():.1f}"),
        "visits left with one in each hour": f"{100 * hours.sum() / len(visits):.0f}%",
        f"mean hourly count of an area, with at most {_KEPT} of these each": (
            f"{cut.sum() / len(city.areas) / city.hours:.0f}"
        ),
    }


def _spatial(city: DensityCity, cover: Cover) -> Mapping[str, str]:
    area, site, share = cover.site_shares()
    week = city.counts.sum(axis=1) / city.hours
    hourly = np.zeros(len(city.areas))
    np.add.at(hourly, area, week[site] * share)
    size = city.areas.sizes / 1e4
    return {
        "ground, square kilometres": f"{city.areas.sizes.sum() / 1e6:.1f}",
        "size of an area in hectares, 5% / median / 95%": _spread(size),
        "size of a tower's cell in hectares, 5% / median / 95%": (
            _spread(cover.pieces.site_sizes / 1e4)
        ),
        "tower cells in the smallest cover": f"{cover.is_site.sum()}",
        "mean hourly count of an area, 5% / median / 95%": _spread(hourly),
    }


def _spread(values: FloatArray) -> str:
    return " / ".join(f"{value:.1f}" for value in np.quantile(values, [0.05, 0.5, 0.95]))


if __name__ == "__main__":
    print_tables("Paris", lambda seed: tables(paris(seed=seed)))
