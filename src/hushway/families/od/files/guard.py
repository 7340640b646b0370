"""Refuses OD tables that hold anything but the numbers of a release."""

import math
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from hushway.arrays import FloatArray
from hushway.errors import ReleaseError
from hushway.families.od.files.features import (
    MOST_FEATURES,
    MOST_LABELS,
    MOST_SUMS,
    pair_columns,
)
from hushway.families.od.files.view import ODView
from hushway.families.od.fit.random_effects import RandomEffects, are_effects
from hushway.families.od.fit.table import Estimates, MarginTable, ODTable
from hushway.families.od.mechanism.measuring import ODMechanism
from hushway.families.od.mechanism.terms import FAMILY, stated_od, stated_terms
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.bound import Bound
from hushway.privacy.certificate import Certificate
from hushway.privacy.certificate.parts import plain
from hushway.privacy.events import Event
from hushway.release.folder.guard import are_amounts, check_reads_back, is_column, refuse
from hushway.release.formats.places import locations_csv, periods_csv, read_locations, read_periods
from hushway.release.terms import (
    check_domain,
    check_release_type,
    check_terms,
    is_noise,
    noise_error,
    refuse_numbers,
)

# Sums and residuals of whole numbers below this are whole numbers of 64 bits.
_MOST_TRIPS = 1 << 61


def check_table(table: ODTable) -> None:
    """Makes sure that a table is made of published numbers."""
    if not isinstance(table.universe, ODCells):
        refuse("The universe of the table is not one of public cells.")
    columns = (table.cells, table.counts, table.standard_errors)
    if not all(map(is_column, columns, (np.int64, np.int64, np.float64))):
        refuse("The columns of the table are not plain arrays of numbers.")
    rows, size = len(table.cells), table.universe.size
    if not rows == len(table.counts) == len(table.standard_errors):
        refuse("The columns of the table are not of one length.")
    ascending = rows == 0 or (
        table.cells[0] >= 0 and table.cells[-1] < size and bool(np.all(np.diff(table.cells) > 0))
    )
    _check_left_out(table)
    every = table.threshold is None and not table.zeros_left_out
    if not ascending or (every and rows != size):
        refuse("The rows of the table are not the public cells in order.")
    if bool(np.any(table.counts < 0)):
        refuse("A count is negative.")
    if table.zeros_left_out and not bool(np.all(table.counts)):
        refuse("A count is 0 in a table that leaves out zeros.")
    if not are_amounts(table.standard_errors):
        refuse("A standard error is not a number of trips.")
    _check_estimates(table)
    effects = table.effects
    if effects is not None and not (
        type(effects) is RandomEffects and are_effects(asdict(effects))
    ):
        refuse("A random effect is not a number of 0 or more.")


def _check_estimates(table: ODTable) -> None:
    found = table.estimates
    if (found is None) != (table.effects is None):
        refuse("Estimates and random effects belong together.")
    if found is None:
        return
    if type(found) is not Estimates or not is_column(found.cells, np.int64):
        refuse("The estimates of the table are not those of cells.")
    cells, size = found.cells, table.universe.size
    inside = len(cells) == 0 or (cells[0] >= 0 and cells[-1] < size)
    if not inside or not bool(np.all(np.diff(cells) > 0)):
        refuse("The estimates of the table are not those of public cells in order.")
    if not all(_are_errors(column, len(cells)) for column in (found.means, found.standard_errors)):
        refuse("An estimate is not a number of trips.")


def check_margins(table: ODTable) -> None:
    """Makes sure that the sums of a table are published ones."""
    plain("diagnostics of the fit", table.diagnostics)
    if type(table.margins) is not tuple:
        refuse("The sums of the table are not a tuple.")
    for margin in table.margins:
        _check_margin(table, margin)
    features = [margin.feature for margin in table.margins]
    if len({feature.title for feature in features}) != len(features):
        refuse("Two published totals of the table have the same title.")
    if features and float(table.counts.sum(dtype=np.float64)) >= _MOST_TRIPS:
        refuse("The counts of the table are too large to be added up.")
    check_sizes(table.universe, features)


def check_lists(universe: ODCells) -> None:
    """Makes sure that a verifier can read the public lists back from their files."""
    check_reads_back(
        "The places or periods",
        lambda: (
            read_locations(locations_csv(universe.locations)).digest == universe.locations.digest
            and read_periods(periods_csv(universe.periods)).digest == universe.periods.digest
        ),
        "Use plain text for ids and names, and Python's own floats for positions.",
    )


def _check_left_out(table: ODTable) -> None:
    if type(table.zeros_left_out) is not bool:
        refuse("The table does not say whether it leaves out zeros.")
    if table.zeros_left_out and table.threshold is not None:
        refuse("A cell without a row cannot be both 0 and below a threshold.")


def _check_margin(table: ODTable, margin: MarginTable) -> None:
    # The very classes: a subclass might carry more than what was measured.
    if type(margin) is not MarginTable or type(margin.feature) is not Feature:
        refuse("The sums of the table are not sums over public published totals.")
    feature = margin.feature
    if feature.universe is not table.universe and feature.universe.digest != table.universe.digest:
        refuse(f"The published total {feature.title!r} is over other cells than the table's.")
    if not is_column(margin.measured, np.int64) or not is_column(margin.fitted, np.float64):
        refuse(f"The sums over {feature.title!r} are not plain arrays of numbers.")
    if not len(margin.measured) == len(margin.fitted) == feature.size:
        refuse(f"The sums over {feature.title!r} are not one for each element.")
    error = margin.standard_error
    if not isinstance(error, float) or not math.isfinite(error) or error < 0:
        refuse(f"The standard error of {feature.title!r} is not a number of trips.")
    if margin.errors is not None and not _are_errors(margin.errors, feature.size):
        refuse(f"The errors of the sums over {feature.title!r} are not one for each element.")
    sound = np.isfinite(margin.fitted) & (np.abs(margin.measured) < _MOST_TRIPS)
    if not bool(np.all(sound)):
        refuse(f"A sum over {feature.title!r} is not a number of trips.")


def check_sizes(universe: ODCells, features: Sequence[Feature]) -> None:
    """Makes sure that a release can hold the sums over some features."""
    labels = universe.pairs * len(pair_columns(features)[0])
    sums = sum(feature.size for feature in features)
    if len(features) > MOST_FEATURES or sums > MOST_SUMS or labels > MOST_LABELS:
        raise _too_large()


def refuse_too_many_places(universe: ODCells) -> None:
    """Refuses places of which no pair can have a label, before any label is made."""
    if universe.pairs > MOST_LABELS:
        raise _too_large()


def _too_large() -> ReleaseError:
    return ReleaseError(
        f"A release holds at most {MOST_FEATURES} published totals, {MOST_SUMS:,} sums, and "
        f"{MOST_LABELS:,} labels of pairs of places.",
        advice="Leave out the finest published totals, or use coarser places.",
    )


def _are_errors(errors: FloatArray, size: int) -> bool:
    return is_column(errors, np.float64, size) and are_amounts(errors)


def check_stated(certificate: Certificate, view: ODView) -> None:
    """Makes sure that a certificate states the terms of a table, its rows and its sums."""
    cells, features = view.universe, view.features
    check_release_type(certificate, FAMILY)
    check_domain(certificate, cells)
    check_terms(certificate, stated_terms(certificate, cells, features))
    mechanism = stated_od(certificate.terms.mechanism, cells, features)
    first = mechanism.cells_event + 1
    margins = certificate.terms.events[first : first + len(features)]
    pairs = zip(view.margins, margins, strict=True)
    if not all(is_noise(sums.standard_error, noise_error(event)) for sums, event in pairs):
        raise refuse_numbers("standard errors of the sums")
    _check_rows(mechanism, certificate.terms.events[mechanism.cells_event], view)


def _check_rows(mechanism: ODMechanism, measured: Event, view: ODView) -> None:
    cells, least = view.universe, view.rows.least
    bound: Bound = measured.bound
    threshold = mechanism.threshold(cells, bound)
    below = threshold is not None and least is not None and least < threshold
    if (view.threshold, view.zeros_left_out) != (threshold, mechanism.zeros_left_out) or below:
        raise refuse_numbers("rows")
    learnt = mechanism.learns_errors
    if any((sums.errors is not None) != learnt for sums in view.margins):
        raise refuse_numbers("errors of the sums")
    if learnt:
        # Learnt errors are what they are: `facts_of_rows` says that they are numbers.
        return
    noise = noise_error(measured)
    if not all(is_noise(error, noise) for error in view.rows.standard_errors or ()):
        raise refuse_numbers("standard errors")
