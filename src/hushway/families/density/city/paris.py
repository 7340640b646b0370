"""A synthetic Paris: a week of calls that adds up to published figures.

The figures are those of Acs and Castelluccia, *A Case Study: Privacy Preserving Release of
Spatio-temporal Density in Paris*, KDD 2014. The public map never changes. Events depend on the
seed, and add up to the published figures whatever the seed is. See docs/cities.md.
"""

from hushway.errors import PlanError
from hushway.families.density.city import figures
from hushway.families.density.city.activity import visits_of_people
from hushway.families.density.city.calls import events_of
from hushway.families.density.city.city import CityVisits, DensityCity
from hushway.families.density.city.map import areas_of, towers_of
from hushway.families.density.city.people import people_of
from hushway.families.density.city.towers import tower_field
from hushway.study.chance import generator

__all__ = ["CityVisits", "DensityCity", "paris"]

_SIZES = {"people": (100, 20_000_000), "towers": (20, 3_000), "areas": (10, 2_500)}

# Streams of a seed.
_ACTIVITY, _TOWERS, _PEOPLE, _CALLS = range(4)


def paris(
    seed: int,
    *,
    people: int = figures.PEOPLE,
    towers: int = figures.TOWERS,
    areas: int = figures.AREAS,
) -> DensityCity:
    """Returns a synthetic Paris: 1,992,846 people, 1,303 towers, 989 areas, 27,003,063 visits.

    A visit is a distinct (person, tower, hour). Visits of a person have the mean 13.55 and the
    deviation 18.33. From 100,000 people on, the most visits of a person are exactly 732; with fewer
    people they are what the same law gives.

    Args:
        seed: Chooses the events. The same seed gives the same city.
        people: How many people, from 100 to 20,000,000.
        towers: How many towers, from 20 to 3,000.
        areas: How many areas, from 10 to 2,500.

    Raises:
        PlanError: A size is out of range.
    """
    _check(seed, people=people, towers=towers, areas=areas)
    places, position_m = towers_of(towers)
    field = tower_field(position_m, generator(seed, _TOWERS))
    visits = visits_of_people(people, generator(seed, _ACTIVITY))
    crowd = people_of(visits, field, generator(seed, _PEOPLE))
    person, tower, second = events_of(crowd, field, generator(seed, _CALLS))
    return DensityCity(
        name="Paris (synthetic)",
        zone=figures.ZONE,
        first_day=figures.FIRST_DAY,
        last_day=figures.LAST_DAY,
        areas=areas_of(areas),
        towers=places,
        people=people,
        person=person,
        tower=tower,
        second=second,
    )


def _check(seed: int, **sizes: int) -> None:
    if seed < 0:
        raise PlanError("A seed cannot be negative.", advice="Give 0 or any larger whole number.")
    for name, size in sizes.items():
        fewest, most = _SIZES[name]
        if not fewest <= size <= most:
            raise PlanError(
                f"The city cannot have {size} {name}.",
                advice=f"Give a number from {fewest:,} to {most:,}.",
            )
