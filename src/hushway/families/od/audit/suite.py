"""The audits of the OD family, mechanism by mechanism, and the proof that they can fail."""

from hushway.auditing.mutant_curators import FeatureSensitivityOfOne
from hushway.auditing.product import blind, unsplit
from hushway.auditing.suite import Audit, Suite, mutant
from hushway.families.od.audit import (
    cbdp,
    hierarchical,
    laplace,
    learned,
    people,
    series,
    sparse,
    taps,
)
from hushway.families.od.audit.stage import ODProduct

PLAIN: tuple[Audit[ODProduct], ...] = (*laplace.AUDITS, *sparse.AUDITS, *taps.AUDITS)
FITTED: tuple[Audit[ODProduct], ...] = (
    *cbdp.AUDITS,
    *hierarchical.AUDITS,
    *learned.AUDITS,
    *people.AUDITS,
    *series.AUDITS,
)
PLAIN_MUTANTS = (*laplace.MUTANTS, *sparse.MUTANTS, *taps.MUTANTS)
FITTED_MUTANTS = (
    mutant(
        "sensitivity 1 instead of m on published totals",
        ODProduct(curator=FeatureSensitivityOfOne),
        cbdp.MANY_TRIPS,
        hierarchical.MANY_TRIPS,
    ),
    mutant(
        "the whole budget for every published total",
        ODProduct(mechanism=unsplit, budget=blind),
        cbdp.ONE_TRIP,
        hierarchical.ONE_TRIP,
        cbdp.ONE_TRIP_GAUSSIAN,
        cbdp.GAUSSIAN_NOISE,
        cbdp.FRESH_FEATURE_NOISE,
    ),
    *cbdp.MUTANTS,
    *hierarchical.MUTANTS,
    *learned.MUTANTS,
    *people.MUTANTS,
    *series.MUTANTS,
)

SUITE = Suite(real=ODProduct(), audits=(*PLAIN, *FITTED), mutants=(*PLAIN_MUTANTS, *FITTED_MUTANTS))
