"""What the CBDP paper prints of its transit system (section 10, table 1)."""

from typing import Final

# Best first: the order of the errors in the number of shuttles, on both days.
ORDER: Final = ("O5", "O4", "O3", "H5", "H4", "H3", "Laplace")

# Relative errors at a privacy budget of 1: of shuttles, waiting time of a trip, idle time.
TABLE_1: Final[dict[str, dict[str, tuple[float, float, float]]]] = {
    "weekday": {
        "O5": (0.158, 0.040, 0.061),
        "O4": (0.483, 0.003, 0.196),
        "O3": (0.510, 0.028, 0.145),
        "H5": (0.788, 0.028, 0.483),
        "H4": (1.262, 0.007, 0.578),
        "H3": (1.394, 0.029, 0.586),
        "Laplace": (1.518, 0.029, 0.587),
    },
    "weekend": {
        "O5": (0.252, 0.005, 0.004),
        "O4": (0.843, 0.024, 0.049),
        "O3": (0.891, 0.024, 0.051),
        "H5": (2.647, 0.025, 0.150),
        "H4": (3.694, 0.026, 0.159),
        "H3": (3.704, 0.024, 0.172),
        "Laplace": (4.371, 0.021, 0.192),
    },
}

# The last row: what the system does when it is planned by the exact trips; times in seconds.
TRUTH: Final[dict[str, tuple[float, float, float]]] = {
    "weekday": (99, 135.0, 5130),
    "weekend": (48, 127.8, 4779),
}
