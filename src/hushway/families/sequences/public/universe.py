"""The public universe of sequences: which stops a record may be made of."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushway.families.sequences.public.prefixes import PrefixCells, first_prefixes
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.periods import Periods
from hushway.privacy.digest import digest_of


@dataclass(frozen=True, kw_only=True, eq=False)
class SequenceUniverse:
    """All that is public about sequences before anything is measured.

    Attributes:
        taxonomy: The public tree over the locations.
        periods: The public periods, if stops keep their times.
    """

    taxonomy: Taxonomy
    periods: Periods | None = None

    @property
    def name(self) -> str:
        """What is counted."""
        return "records by prefix"

    @property
    def moments(self) -> int:
        """Number of periods; 1 if times are not kept."""
        return 1 if self.periods is None else len(self.periods)

    @property
    def size(self) -> int:
        """Number of different stops that a record can be made of: locations times periods."""
        return len(self.taxonomy.locations) * self.moments

    @cached_property
    def digest(self) -> str:
        """A digest of the taxonomy and of the periods."""
        periods = None if self.periods is None else self.periods.digest
        return digest_of({"taxonomy": self.taxonomy.digest, "periods": periods})

    def first_step(self) -> PrefixCells:
        """Returns the candidates that every tree starts with."""
        return first_prefixes(self.taxonomy, periods=self.moments)

    def below_one_prefix(self, stops: int) -> tuple[PrefixCells, ...]:
        """Returns all candidates that one prefix can have at each step, as if no group were left.

        How many candidates a step will have depends on what is kept before it; this much is known
        beforehand. At the very first step it is the whole truth.
        """
        steps = [self.first_step()]
        for number in range(1, stops * self.taxonomy.grains):
            # A stop ends with locations, of which one is kept: the prefix that goes on.
            is_new_stop = number % self.taxonomy.grains == 0
            kept = 1 if is_new_stop else steps[-1].size
            steps.append(steps[-1].below(np.arange(kept, dtype=np.int64)))
        return tuple(steps)
