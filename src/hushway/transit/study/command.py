"""The transit study of the CBDP paper, as `hushway reproduce cbdp --odmts` runs it."""

from typing import TYPE_CHECKING, Any

from hushway.release.study import Study, StudyOption

if TYPE_CHECKING:
    from hushway.privacy.measured import Internal
    from hushway.study.results import Report


def reproduce_transit(**chosen: Any) -> "Internal[Report]":
    """Repeats the transit study of the paper."""
    from hushway.transit.study.report import report
    from hushway.transit.study.reproduce import reproduce_odmts

    return report(reproduce_odmts(**chosen))


TRANSIT = Study(
    name="odmts",
    of="cbdp",
    help="Size and operate a transit system by the tables instead: table 1 and figure 5(c, d). 50 "
    "runs take about an hour on two cores; if interrupted, the same command goes on.",
    runs=50,
    run_of="mechanism and budget",
    options=(
        StudyOption(name="processes", help="Processes of --odmts.", shown="one for each core"),
    ),
    prefix="odmts-",
    resumable=True,
)
