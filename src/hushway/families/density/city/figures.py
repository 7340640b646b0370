"""The published figures that the synthetic Paris is matched to.

They are those of Acs and Castelluccia, KDD 2014, sections 4 and 5.2.
"""

from datetime import date
from typing import Final

PEOPLE: Final = 1_992_846
TOWERS: Final = 1_303
AREAS: Final = 989
MEAN_VISITS: Final = 13.55
DEVIATION_OF_VISITS: Final = 18.33
MOST_VISITS: Final = 732
COVER: Final = 826
MEAN_COUNT_OF_AREAS: Final = 91

# With fewer people, one with the most visits would weigh too much in the deviation.
FEWEST_WITH_MOST: Final = 100_000

ZONE: Final = "Europe/Paris"
FIRST_DAY: Final = date(2007, 9, 10)
LAST_DAY: Final = date(2007, 9, 16)
HOURS: Final = 168
