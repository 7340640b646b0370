"""What the paper on densities prints (Acs and Castelluccia, KDD 2014)."""

from typing import Final

EPSILON: Final = "0.3"
DELTA: Final = "0.000002"
MAX_VISITS: Final = 30
RUNS: Final = 20

# Section 6.3: mean relative error over all cells, with EFPAG.
MRE: Final = 0.17
# Section 6.1: for each of 10, 30 and 168 visits of a person.
MRE_BELOW: Final = 0.20
PEARSON_ABOVE: Final = 0.95
# Section 6.1: what EFPAG gains over EFPA, on average over epsilon.
EFPAG_MRE_GAIN: Final = 0.03
EFPAG_PEARSON_GAIN: Final = 0.02
# Section 6.2: what scaling and smoothing gain, on average over epsilon.
IMPROVEMENTS_MRE_GAIN: Final = 0.07
IMPROVEMENTS_PEARSON_GAIN: Final = 0.01
# Section 6.4: earth mover's distance in metres, mean over the week.
EARTH_MOVERS: Final = {"LPA": 341.0, "EFPA": 258.0, "EFPAG": 188.0}
