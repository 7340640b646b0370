"""What the CBDP paper prints (Fioretto, Lee and Van Hentenryck, AAMAS 2018)."""

# Table 2: error of each mechanism on a day at a privacy budget. The paper calls it the average
# distance between the exact and the private answers; its size fits the root mean square error over
# all cells, and nothing else that we tried.
TABLE_2: dict[str, dict[str, dict[str, float]]] = {
    "weekday": {
        "O5": {"1": 0.91, "0.1": 3.87, "0.01": 6.01},
        "H5": {"1": 5.11, "0.1": 56.6, "0.01": 715.0},
        "O5(a)": {"1": 35.6, "0.1": 44.2, "0.01": 108.0},
        "O5(b)": {"1": 13.4, "0.1": 15.7, "0.01": 18.9},
        "O5(c)": {"1": 1.50, "0.1": 5.55, "0.01": 15.2},
    },
    "weekend": {
        "O5": {"1": 0.86, "0.1": 2.69, "0.01": 5.77},
        "H5": {"1": 4.57, "0.1": 50.9, "0.01": 728.0},
    },
}

# Sections 6 and 10: trips in the private table, weekday from 8 to 10.
TOTALS: dict[str, dict[str, float]] = {
    "Laplace": {"0.1": 320_940.0, "0.05": 656_577.0, "0.01": 3_312_350.0},
    "H5": {"0.1": 839_150.0, "0.05": 1_698_770.0, "0.01": 8_543_366.0},
}

# Section 10: seconds of one private table, from the fastest to the slowest budget.
SECONDS: dict[str, tuple[float, float]] = {
    "O": (7.8, 15.4),
    "Laplace": (9.9, 52.8),
    "H": (30.1, 543.0),
}
