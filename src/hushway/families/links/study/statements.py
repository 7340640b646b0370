"""What the reproduction of the DP-ANI paper comes to, in sentences."""

from hushway.families.links.study.methods import DAY, HOUR_LIMITS, SOUND
from hushway.families.links.study.numbers import Reproduction
from hushway.families.links.study.tables import mean_of


def statements(found: Reproduction) -> list[str]:
    """Returns the sentences."""
    attacks = found.attacks
    homes = attacks.homes["1"]
    trips = list(homes)
    away = abs(mean_of(found, "DP-ANI", "1", "length_ratio") - 1)
    length = {name: mean_of(found, name, "1", "length_ratio") for name in (SOUND, DAY)}
    top = {name: mean_of(found, name, "1", "top_share") for name in (SOUND, DAY)}
    return [
        f"DP-ANI at ε = 1 is off by {away:.1%} in the length of the network.",
        f"A lone driver is found in DP-ANI with advantage {attacks.faithful_presence:.2f} of 1.",
        f"In the sound release the advantage is {attacks.sound_presence:.2f}.",
        f"The guarantee of the sound release allows {attacks.most_presence:.2f}.",
        (
            f"{trips[-1]} trips from one home give it away to {homes[trips[-1]]:.0f} metres in "
            f"DP-ANI (one trip: {homes[trips[0]]:.0f}). The sound release leads to a place "
            f"{attacks.sound_home:.0f} metres off, a guess to one {attacks.guessed_home:.0f} off."
        ),
        (
            f"With {found.trips:,} trajectories of an hour and at most {HOUR_LIMITS.max_items} "
            f"items of a person, the sound release at ε = 1 shows {length[SOUND]:.1%} of the "
            f"network and finds {top[SOUND]:.0%} of the busiest links."
        ),
        (
            f"With the {found.day_trips:,} trajectories of the day it shows {length[DAY]:.0%} "
            f"and finds {top[DAY]:.0%}."
        ),
    ]
