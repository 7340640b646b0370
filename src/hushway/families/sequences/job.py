"""The job of a sequences plan."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from hushway.engine.settings import EngineSettings
from hushway.errors import PlanError
from hushway.families.sequences.mechanism.catalogue import (
    MECHANISMS,
    LearnedOptions,
    PrefixTreeOptions,
    SequencesSetting,
)
from hushway.families.sequences.mechanism.learned import is_learnable
from hushway.families.sequences.mechanism.people import PeopleSequences
from hushway.families.sequences.mechanism.steps import recommended_height
from hushway.families.sequences.mechanism.terms import SequenceMechanism, sequence_terms
from hushway.families.sequences.plan import SequencesPlan
from hushway.families.sequences.public.gtfs_lines import line_taxonomy
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy, column_taxonomy, generated_taxonomy
from hushway.families.sequences.rows.check import check_sequences, check_taps
from hushway.families.sequences.rows.counter import EngineSequences
from hushway.families.sequences.rows.sequences import (
    SequenceColumns,
    SequenceRule,
    SequencesSource,
    TapColumns,
    TapsSource,
    record_bound,
)
from hushway.geography.locations import grouped, label_column
from hushway.privacy.bound import Unit
from hushway.privacy.certificate import Terms
from hushway.privacy.ledger import Window
from hushway.release.contribution.crowd import USUAL_RECORDS
from hushway.release.job import CountingContext, Job, Wording, window_of_days
from hushway.release.mechanism import Measurements
from hushway.release.plans.places import listed_places
from hushway.release.wording import plural
from hushway.tables.check import Policy, Problem, RowsChecked

_SHOWN = 20
# The paper's height.
_HEIGHT = 12


@dataclass(frozen=True, kw_only=True)
class RecordRows:
    """The taps or the ready sequences of a plan.

    Attributes:
        ladder: Limits on records of a person that may be asked for besides.
        multi_line: Ids of locations that several lines call at; each was given to one.
    """

    source: TapsSource | SequencesSource
    taxonomy: Taxonomy
    rule: SequenceRule
    unit: Unit
    ladder: tuple[int, ...]
    policy: Policy
    multi_line: tuple[str, ...] = ()

    def check(self, settings: EngineSettings, *, notes: bool) -> RowsChecked:
        """Returns what is wrong with the rows; with notes also what may be."""
        checked = self._checked(settings, notes=notes)
        if not notes:
            return checked
        return replace(checked, problems=(*checked.problems, *self._shared_stations()))

    def _checked(self, settings: EngineSettings, *, notes: bool) -> RowsChecked:
        ready = isinstance(self.source, SequencesSource)
        check: Callable[..., RowsChecked] = check_sequences if ready else check_taps
        return check(
            self.source,
            self.taxonomy.locations,
            self.rule,
            self.policy,
            settings=settings,
            notes=notes,
            unit=self.unit,
        )

    def _shared_stations(self) -> list[Problem]:
        if not self.multi_line:
            return []
        some = ", ".join(self.multi_line[:_SHOWN])
        return [
            Problem(
                kind="multi_line",
                message=f"Several lines call at these places, and each was given to the one "
                f"that calls most often: {some}"
                f"{' and more' if len(self.multi_line) > _SHOWN else ''}.",
                count=None,
                severity="note",
                advice="Give the lines as a column of the places if another choice is better.",
            )
        ]

    def counter(self, context: CountingContext) -> EngineSequences:
        """Returns who counts them, each unit bounded."""
        return EngineSequences(
            source=self.source,
            taxonomy=self.taxonomy,
            rule=self.rule,
            unit=self.unit,
            key=context.key,
            ladder=self.ladder,
            settings=context.settings,
            progress=context.progress,
        )


def prepare_sequences(plan: SequencesPlan, *, like: Job | None = None) -> Job:
    """Reads the public files of a sequences plan and sets up its mechanism.

    Args:
        like: A job of the same public files, which are then not read again.

    Raises:
        GeographyError: The locations, their groups or the periods are wrong.
    """
    window = None if plan.time is None else plan.time.periods
    planned = planned_taxonomy(plan) if like is None else _same_taxonomy(like)
    universe = SequenceUniverse(
        taxonomy=planned.taxonomy, periods=window if plan.records.times else None
    )
    height, unit = _height(plan), plan.privacy.unit
    # Of a limit that is to be chosen, what is usual.
    bound = record_bound(unit, plan.record_limit or USUAL_RECORDS)
    mechanism = _mechanism(plan, universe, height)
    people = mechanism if isinstance(mechanism, PeopleSequences) else None

    def terms(mechanism: SequenceMechanism) -> Terms:
        return sequence_terms(
            mechanism,
            universe,
            unit=unit,
            max_records=bound.total,
            record=plan.records.span if plan.data.taps is not None else "row",
        )

    def settled(found: Measurements) -> Terms:
        assert people is not None  # noqa: S101  nothing else settles
        return terms(people.settled(found)).measured([one.event.cells for one in found])

    return Job(
        plan=plan,
        geography=universe,
        bound=bound,
        mechanism=mechanism,
        terms=terms(mechanism),
        settled_terms=None if people is None else settled,
        window=_days(plan),
        rows=RecordRows(
            source=_source(plan),
            taxonomy=universe.taxonomy,
            rule=SequenceRule(
                max_stops=height,
                max_records=bound.total,
                window=window,
                record=plan.records.span,
                keep_times=plan.records.times,
            ),
            unit=unit,
            ladder=() if people is None else people.ladder,
            policy=Policy(**dict(plan.problems)),
            multi_line=planned.multi_line,
        ),
        wording=_wording(plan, mechanism, universe),
    )


def _height(plan: SequencesPlan) -> int:
    """Returns the height that the plan names, or that follows from its guess of the length."""
    records = plan.records
    if records.mean_stops is not None:
        return recommended_height(records.mean_stops)
    return _HEIGHT if records.max_stops is None else records.max_stops


def _mechanism(plan: SequencesPlan, universe: SequenceUniverse, height: int) -> SequenceMechanism:
    """Returns the mechanism that a plan names; without one, what can be learnt is learnt."""
    options = plan.mechanism
    if options is None:
        learnable = is_learnable(universe, height)
        options = LearnedOptions(name="learned") if learnable else PrefixTreeOptions()
        for problem in options.disagreements(plan):
            raise PlanError(f"{problem}.", advice="Correct the plan.")
    setting = SequencesSetting(plan=plan, options=options, universe=universe, height=height)
    mechanism: SequenceMechanism = MECHANISMS[options.name].from_plan(setting)
    return mechanism


def _source(plan: SequencesPlan) -> TapsSource | SequencesSource:
    data, columns = plan.data, plan.data.columns
    if data.taps is not None:
        return TapsSource(
            path=plan.rows_path(data.taps),
            columns=TapColumns(
                person=columns.person or "",
                location=columns.place,
                time=columns.time,
                date=columns.date,
            ),
            clock=data.clock,
            time_format=data.time_format,
            encoding=data.encoding,
        )
    return SequencesSource(
        path=plan.rows_path(data.sequences or ""),
        columns=SequenceColumns(person=columns.person, stops=columns.stops),
        separator=data.separator,
        encoding=data.encoding,
    )


def _days(plan: SequencesPlan) -> Window:
    """Returns the days of the taps; ready sequences carry no times, whatever the plan says."""
    if plan.data.taps is None or plan.time is None:
        return Window.always()
    time = plan.time
    return window_of_days(time.first_day, time.last_day, time.zone, clock=plan.data.clock)


def _wording(
    plan: SequencesPlan, mechanism: SequenceMechanism, universe: SequenceUniverse
) -> Wording:
    groups = ", ".join(
        f"{len(level):,} groups of {level.column!r}" for level in universe.taxonomy.levels
    )
    return Wording(
        rows="taps" if plan.data.taps is not None else "sequences",
        counted="records",
        universe=f"{len(universe.taxonomy.locations):,} places, {groups or 'no groups'}, "
        f"{plural(universe.moments, 'period')}, up to {plural(mechanism.height, 'stop')}.",
    )


_ZONE = "zone"


@dataclass(frozen=True, kw_only=True)
class PlannedTaxonomy:
    """A taxonomy and the locations that several lines call at, each of which was given to one."""

    taxonomy: Taxonomy
    multi_line: tuple[str, ...] = ()


def _same_taxonomy(job: Job) -> PlannedTaxonomy:
    rows = job.rows
    assert isinstance(rows, RecordRows)  # noqa: S101  what a sequences plan makes
    return PlannedTaxonomy(taxonomy=rows.taxonomy, multi_line=rows.multi_line)


def planned_taxonomy(plan: SequencesPlan) -> PlannedTaxonomy:
    """Reads the locations of a plan and groups them.

    Raises:
        GeographyError: A public file is wrong, or the groups are no partition.
    """
    asked = plan.taxonomy
    group = plan.places.group
    labels = tuple(sorted(set(asked.columns) - {_ZONE})) if group is None else label_column(group)
    locations = listed_places(plan, plan.places, plan.places.file, labels)
    if group is not None:
        locations = grouped(locations, group)
    if asked.columns:
        return PlannedTaxonomy(taxonomy=column_taxonomy(locations, asked.columns))
    if asked.gtfs is not None:
        lines = line_taxonomy(plan.path(asked.gtfs), locations)
        return PlannedTaxonomy(taxonomy=lines.taxonomy, multi_line=lines.multi_line)
    if asked.fan_out is not None:
        return PlannedTaxonomy(taxonomy=generated_taxonomy(locations, asked.fan_out))
    return PlannedTaxonomy(taxonomy=Taxonomy(locations=locations))
