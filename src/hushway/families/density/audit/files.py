"""What a density of events in files must not give away, counted by the engine that plans use."""

from dataclasses import dataclass
from fractions import Fraction

from hushway.audit.files import microseconds
from hushway.audit.gaussian import gaussian_shift, rho_of
from hushway.audit.harness import Examination, Sampler
from hushway.audit.product import Look
from hushway.families.density.audit.looks import Projection
from hushway.families.density.audit.product import DensityProduct, DensityStage
from hushway.families.density.audit.toy import Stay, Stays, district
from hushway.families.density.public.visits import VisitLimits
from hushway.families.density.rows.rows import EventColumns, EventsSource

_BINS = 24
_MOST = 4
_HOUR_US = 3_600_000_000
# Reading files is slow.
_BRIEF = Fraction(1, 4)
# At one site in every bin, three times: 72 events, of which four count.
_RESTLESS: Stays = tuple(Stay(site=0, bin=when, times=3) for when in range(_BINS))


def many_batches(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A person with 72 events in five files and many batches, four of which count."""
    stage = FileStage(
        product=product,
        district=district(corners=1000, bins=_BINS),
        limits=VisitLimits(max_visits=_MOST, most_counted=_MOST),
        spend=rho_of(epsilon),
    )
    look = Projection(stage=stage, direction={(0, when): 1 for when in range(_BINS)}).seen
    return gaussian_shift(
        name="files: 72 events of one person in many batches fit rho",
        statistic="the sum over all bins of the first cell",
        epsilon=epsilon,
        worlds=stage.worlds(look, ("the person", _RESTLESS)),
        effort=_BRIEF,
    )


@dataclass(frozen=True, kw_only=True)
class FileStage(DensityStage):
    """A stage whose events are in files."""

    def sampler(self, scene: Stays, look: Look) -> Sampler:
        """Returns a way to run a scene: it is written once, and read again for each release."""
        rows, universe = self.district.play(scene), self.district.universe
        columns = {
            "person": rows.person,
            "location": rows.site,
            "time": microseconds(universe.periods.first_day, rows.bin * _HOUR_US),
        }
        return self.sampler_of_files(
            columns, lambda folder: EventsSource(folder, EventColumns()), look
        )
