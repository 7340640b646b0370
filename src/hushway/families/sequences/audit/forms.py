"""The trees that are audited. What one release costs hardly depends on its corners, up to a point.

Each candidate of a second stop is one of all places, so trees of two stops have few corners: their
nodes grow with the square of these. Trees of one stop have thousands.
"""

from dataclasses import replace

from hushway.families.sequences.audit.product import TreeForm
from hushway.families.sequences.audit.toy import village

_GROUPS_OF_TWO = village(corners=4000, places=2)

# Two steps, a group and one of its locations.
GROUPED = TreeForm(words="one stop by group and location", village=_GROUPS_OF_TWO, height=1)
# The same with two groups a corner, for a record that must not be in both.
PAIRED = TreeForm(
    words="one stop in two groups",
    village=replace(_GROUPS_OF_TWO, corners=2000, groups=2),
    height=1,
)
# The same at a threshold that a few people just reach.
CROWDED = TreeForm(words="one stop at a threshold", village=_GROUPS_OF_TWO, height=1, threshold=3)
# The same with fifty locations a corner, in five groups.
BRANCHED = TreeForm(
    words="one stop in five groups of ten locations",
    village=village(corners=800, groups=5, places=10),
    height=1,
)
# Two steps, both of them stops.
STOPS = TreeForm(words="two stops", village=village(corners=400), height=2)
# As a plan has it: four steps, from the group of the first stop to the location of the second.
HYBRID = TreeForm(
    words="two stops by group and location",
    village=village(corners=100, places=2),
    height=2,
)
# One stop at one of three hours.
HOURS = TreeForm(words="one stop with its time", village=village(corners=2000, periods=3), height=1)
# Two stops, each at one of three hours.
TIMED = TreeForm(words="two stops with times", village=village(corners=150, periods=3), height=2)
# Small enough for noise that is drawn candidate by candidate.
SMALL = TreeForm(words="two stops", village=village(corners=150), height=2)
