"""How much noise a link gets before the fit, by the limit on items, for docs/guides/links.md.

Nothing is measured: that is what `hushway price` prints for any roads. Run by hand:
`python benchmarks/link_noise.py`.
"""

from fractions import Fraction

from hushway.families.links.city.road_city import road_city
from hushway.families.links.mechanism.counts import link_counts, smaller_noise
from hushway.families.links.public.universe import MovementLimits, bound_within
from hushway.families.links.study.scene import one_period

ITEMS = (5, 20, 60, 200)
EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(2))
DELTA = Fraction(1, 10**6)


def main() -> None:
    universe = one_period(road_city(1, links=1_000))
    heads = " | ".join(f"ε = {float(epsilon):g}" for epsilon in EPSILONS)
    print(f"### Noise\n\n| `max_items` | {heads} |\n| --- | ---: | ---: | ---: |")
    for items in ITEMS:
        limits = MovementLimits(max_items=items)
        noise = []
        for epsilon in EPSILONS:
            mechanism = link_counts(limits, budget=smaller_noise(epsilon, DELTA, limits))
            bound = bound_within(mechanism.queries(universe)[0].cells, limits)
            link = mechanism.forecast(universe, bound)
            noise.append(f"{link[0].standard_error:.1f}")
        print(f"| {items} | {' | '.join(noise)} |")


if __name__ == "__main__":
    main()
