"""Planted mistakes of links. Each is the product with one part exchanged; the last is the paper."""

from functools import partial

from hushway.audit.hunt import Mutant
from hushway.audit.purse import BlindPurse
from hushway.families.links.audit import ends as links_ends
from hushway.families.links.audit import files as links_files
from hushway.families.links.audit import measured as links_measured
from hushway.families.links.audit import whole as links_whole
from hushway.families.links.audit.mutant_choices import (
    BusiestLinks,
    Peeping,
    SpeedsOfAllItems,
    nosy_expectation,
)
from hushway.families.links.audit.mutant_ends import (
    around_true_ends,
    cleaned_first,
    first_by_place,
    within_the_radius,
)
from hushway.families.links.audit.mutant_parts import (
    ExactAnswers,
    NoCap,
    NoClip,
    PaperEnds,
    SeenLinksOnly,
    SensitivityOfOne,
    SharedByItems,
    ThresholdBeforeNoise,
    TripsForPersons,
    TwoCounts,
    UnboundedSums,
    unsplit,
)
from hushway.families.links.audit.mutant_readers import TracesBatchByBatch
from hushway.families.links.audit.product import LinkProduct, movements_of_files
from hushway.privacy.loss import Loss
from hushway.privacy.unit import Unit


def _blind(_unit: Unit, _spend: Loss) -> BlindPurse:
    """Returns a purse that agrees to everything, whatever it was filled with."""
    return BlindPurse()


LINK_MUTANTS: tuple[Mutant[LinkProduct], ...] = (
    Mutant(
        name="no cap on items",
        product=LinkProduct(counter=NoCap),
        audits=(links_measured.long_drive, links_measured.long_drive_laplace),
    ),
    Mutant(
        name="every trip for itself",
        product=LinkProduct(counter=TripsForPersons),
        audits=(links_measured.one_home, links_measured.long_drive),
    ),
    Mutant(
        name="sensitivity 1 instead of the root of m",
        product=LinkProduct(counter=SensitivityOfOne),
        audits=(links_measured.nine_items, links_measured.shift_of_nine),
    ),
    Mutant(
        name="links taken from the data",
        product=LinkProduct(curator=SeenLinksOnly),
        audits=(links_measured.lone_road, links_measured.unused_road),
    ),
    Mutant(
        name="the same noise for every link",
        product=LinkProduct(curator=SharedByItems),
        audits=(links_measured.link_less_another, links_measured.fresh_links),
    ),
    Mutant(
        name="threshold before noise",
        product=LinkProduct(counter=ThresholdBeforeNoise),
        audits=(links_measured.at_threshold,),
    ),
    Mutant(
        name="speeds that are not cut off",
        product=LinkProduct(counter=NoClip),
        audits=(links_whole.fast_and_slow, links_whole.slow_driver),
    ),
    Mutant(
        name="classes added up from all rows",
        product=LinkProduct(counter=TwoCounts, curator=UnboundedSums),
        audits=(links_whole.hundred_links,),
    ),
    Mutant(
        name="the whole budget for every question",
        product=LinkProduct(mechanism=unsplit, budget=_blind),
        audits=(links_whole.all_questions,),
    ),
    Mutant(
        name="speeds of items that do not count",
        product=LinkProduct(counter=SpeedsOfAllItems),
        audits=(links_whole.hundred_speeds,),
    ),
    Mutant(
        name="the busiest links of each person",
        product=LinkProduct(counter=BusiestLinks),
        audits=(links_measured.one_tips_the_scale,),
    ),
    Mutant(
        name="an expectation from exact sums",
        product=LinkProduct(curator=Peeping, mechanism=nosy_expectation),
        audits=(links_whole.same_table,),
    ),
    Mutant(
        name="each batch of rows bounded by itself",
        product=LinkProduct(files=partial(movements_of_files, engine=TracesBatchByBatch)),
        audits=(links_files.same_way,),
    ),
    Mutant(
        name="ends moved no further than a radius",
        product=LinkProduct(ends=within_the_radius),
        audits=(links_ends.moved_home,),
    ),
    Mutant(
        name="trips cleaned by their true ends",
        product=LinkProduct(ends=cleaned_first),
        audits=(links_ends.just_in_reach, links_ends.two_at_once),
    ),
    Mutant(
        name="discs around the true ends",
        product=LinkProduct(ends=around_true_ends),
        audits=(links_ends.moved_home,),
    ),
    Mutant(
        name="of several last positions the first by place",
        product=LinkProduct(ends=first_by_place),
        audits=(links_ends.two_at_once,),
    ),
    Mutant(
        name="the paper: noise at the ends of trips, exact counts",
        product=LinkProduct(counter=PaperEnds, curator=ExactAnswers),
        audits=(
            links_measured.lone_road,
            links_measured.long_drive,
            links_measured.one_home,
            links_measured.two_ends,
            links_measured.unused_road,
            links_whole.class_swap,
        ),
    ),
)
