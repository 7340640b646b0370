"""Planted mistakes of sequences: the product with one part exchanged; an audit must catch it."""

from functools import partial

from hushway.audit.hunt import Mutant
from hushway.audit.mutant_curators import OccupiedCellsOnly
from hushway.audit.purse import BlindPurse
from hushway.families.sequences.audit import files as sequences_files
from hushway.families.sequences.audit import gaussian as sequences_gaussian
from hushway.families.sequences.audit import measured as sequences_measured
from hushway.families.sequences.audit import published as sequences_published
from hushway.families.sequences.audit import timed as sequences_timed
from hushway.families.sequences.audit.forms import GROUPED, STOPS
from hushway.families.sequences.audit.mutant_parts import (
    EveryLaterPeriod,
    InTwoGroups,
    NoCap,
    NoNoiseOnMany,
    Peeping,
    SameSeed,
    SensitivityOfOne,
    SpreadRecords,
    ThresholdFirst,
    nosy,
    unsplit_tree,
)
from hushway.families.sequences.audit.mutant_readers import sequences_file_by_file
from hushway.families.sequences.audit.product import SequenceProduct, taps_of_files
from hushway.privacy.loss import Loss
from hushway.privacy.unit import Unit


def _blind(_unit: Unit, _spend: Loss) -> BlindPurse:
    """Returns a purse that agrees to everything, whatever it was filled with."""
    return BlindPurse()


SEQUENCE_MUTANTS: tuple[Mutant[SequenceProduct], ...] = (
    Mutant(
        name="sensitivity 1 instead of m",
        product=SequenceProduct(counter=SensitivityOfOne),
        audits=(sequences_measured.many_records, sequences_published.many_records),
    ),
    Mutant(
        name="no cap",
        product=SequenceProduct(counter=NoCap),
        audits=(sequences_measured.many_records, sequences_measured.many_branches),
    ),
    Mutant(
        name="candidates taken from the data",
        product=SequenceProduct(curator=OccupiedCellsOnly),
        audits=(
            partial(sequences_measured.one_record, GROUPED),
            partial(sequences_published.unseen_prefix, GROUPED),
            partial(sequences_published.unseen_prefix, STOPS),
            sequences_published.one_step_enumerated,
        ),
    ),
    Mutant(
        name="threshold before noise",
        product=SequenceProduct(curator=ThresholdFirst),
        audits=(sequences_measured.at_the_threshold,),
    ),
    Mutant(
        name="the whole budget for every step",
        product=SequenceProduct(mechanism=unsplit_tree, budget=_blind),
        audits=(
            sequences_measured.first_step,
            partial(sequences_measured.one_record, GROUPED),
            sequences_measured.long_record,
        ),
    ),
    Mutant(
        name="a station in two groups",
        product=SequenceProduct(counter=InTwoGroups),
        audits=(sequences_measured.two_groups,),
    ),
    Mutant(
        name="a tree that stops where exact counts end",
        product=SequenceProduct(curator=Peeping, mechanism=nosy),
        audits=(sequences_published.next_questions,),
    ),
    Mutant(
        name="a stop that counts in every later period",
        product=SequenceProduct(counter=EveryLaterPeriod),
        audits=(sequences_timed.two_periods,),
    ),
    Mutant(
        name="records of one person that never share a candidate",
        product=SequenceProduct(counter=SpreadRecords),
        audits=(sequences_gaussian.many_records,),
    ),
    Mutant(
        name="no noise where many people are",
        product=SequenceProduct(curator=NoNoiseOnMany),
        audits=(sequences_measured.busy_group,),
    ),
    Mutant(
        name="the same noise at every step",
        product=SequenceProduct(curator=SameSeed),
        audits=(sequences_measured.step_less_another,),
    ),
    Mutant(
        name="each file bounded by itself",
        product=SequenceProduct(files=partial(taps_of_files, engine=sequences_file_by_file)),
        audits=(sequences_files.many_days,),
    ),
)
