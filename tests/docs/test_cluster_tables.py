"""Tables of a cluster follow from the seconds that a benchmark saved."""

from tools.docs import cluster_tables

FOUND = {
    "27 M": {
        "seconds": {
            "duckdb, bare by person": 2.0,
            "duckdb, trips": 9.0,
            "cluster, bare by person": 10.0,
            "cluster, trips": 27.0,
            "cluster, visits": 13.5,
        },
        "peak_gb": 1.62,
    },
    "270 M": {
        "seconds": {
            "duckdb, bare by person": 40.0,
            "duckdb, trips": 108.0,
            "cluster, bare by person": 150.0,
            "cluster, trips": 270.0,
            "cluster, visits": 189.0,
        },
        "peak_gb": 7.56,
    },
    "traces": {"seconds": {"one thread": 5.9}, "rates": {"one thread": 116462}},
}


def test_rates_are_beside_the_bare_count_of_their_own_engine() -> None:
    _, rows = cluster_tables.rates(FOUND)
    assert ["27 M", "duckdb, trips", "9.0", "3.00", "4.5"] in rows
    assert ["270 M", "cluster, trips", "270.0", "1.00", "1.8"] in rows
    assert len(rows) == 10


def test_growth_is_the_ratio_of_the_two_sizes() -> None:
    _, rows = cluster_tables.growth(FOUND)
    assert dict(rows)["duckdb, trips"] == "12"
    assert dict(rows)["cluster, visits"] == "14"


def test_memory_and_positions_are_those_that_were_saved() -> None:
    assert cluster_tables.memory(FOUND)[1] == [["27 M", "1.6"], ["270 M", "7.6"]]
    assert cluster_tables.positions(FOUND)[1] == [["one thread", "116,462"]]


def test_large_data_are_divided_by_the_rate_of_a_core() -> None:
    _, (city, *_) = cluster_tables.divided(FOUND)
    # 1.5 million rows a second and core, and half a million: 32 and 16 cores.
    assert city == ["10⁹, a city's year", "0.3", "16", "2.1", "1.0"]
