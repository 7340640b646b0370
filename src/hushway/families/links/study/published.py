"""What the DP-ANI paper prints."""

from typing import Final

# Section VI-D, figure 5, in miles.
ORIGINAL_MILES: Final = 194.6
DP_ANI_MILES: Final = 195.2
REMOVED_MILES: Final = 138.2
# The abstract: the network's length deviates by at most so much.
MOST_DEVIATION: Final = 0.09
# Section VI-E: share of end links that moved, at the smallest budget.
MOVED: Final = 0.76
MOVED_EPSILON: Final = "0.1"
TRAJECTORIES: Final = 1200
# From and to which the paper varies it.
EPSILONS: Final = ("0.1", "0.5", "1", "2", "5", "10")
METRES_OF_MILE: Final = 1609.344
