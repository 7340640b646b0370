"""What a family is built from, under one roof: `from hushway import families as hw`.

The four families here are built from the same parts, imported from where they live. Whoever writes
one of their own, or studies one, finds them together; `CONTRIBUTING.md` says how.
"""

from typing import TYPE_CHECKING

from hushway.lazy_exports import attach

__all__ = [
    "LABEL",
    "LEAVE_OUT",
    "LIST_BYTES",
    "OUTSIDE_WINDOW",
    "ROW_WORDS",
    "TERMS_HOLD",
    "TOO_MANY",
    "UNKNOWN",
    "AnyPlan",
    "Bound",
    "BoundingKey",
    "Catalogue",
    "Certificate",
    "Column",
    "Columns",
    "ComparedTable",
    "Contents",
    "Contribution",
    "CountingContext",
    "Curator",
    "DataError",
    "Description",
    "Drawing",
    "EmbeddedSession",
    "EngineSettings",
    "ExactCounts",
    "Example",
    "Family",
    "FixedQuestions",
    "FloatArray",
    "Forecast",
    "IntArray",
    "Intake",
    "Job",
    "Layout",
    "Location",
    "LocationColumns",
    "Locations",
    "Loss",
    "LossPlan",
    "Measured",
    "Measurements",
    "MechanismSpec",
    "Mutant",
    "NamedTable",
    "Notes",
    "Numbers",
    "PartitionQuery",
    "Periods",
    "PlaceColumnsPlan",
    "Policy",
    "PositiveShare",
    "ProblemsPlan",
    "Progress",
    "PublishedFile",
    "PureLoss",
    "Query",
    "Question",
    "Reading",
    "ReleaseError",
    "Resource",
    "RowsChecked",
    "RowsPlan",
    "Section",
    "SeededSource",
    "Session",
    "ShareProgress",
    "StudyBudget",
    "Suite",
    "Sums",
    "Terms",
    "Text",
    "TimeGrid",
    "TimePlan",
    "TimedSource",
    "Trial",
    "Unit",
    "Window",
    "Wording",
    "World",
    "ZCDPLoss",
    "as_many",
    "budget_for",
    "check_domain",
    "check_files",
    "check_release_type",
    "check_terms",
    "claim_text",
    "counted_text",
    "counts_found",
    "csv_parts",
    "csv_rows",
    "damaged",
    "describe_files",
    "digest_of",
    "exact",
    "filled_budget",
    "first_row",
    "ids_with_too_many",
    "kept_in_circle",
    "listed",
    "load_places",
    "located",
    "locations_columns",
    "locations_csv",
    "looked_up",
    "loss_of",
    "noise_for",
    "null_kinds",
    "open_parquet",
    "open_session",
    "os_source",
    "periods_file",
    "place_counts",
    "places_found",
    "plane",
    "plural",
    "png_of",
    "poster",
    "public_facts",
    "published_periods",
    "published_places",
    "read_locations",
    "read_plain",
    "read_rows",
    "rebuilt",
    "required_columns",
    "rho_for",
    "rows_between",
    "rows_checked",
    "rows_found",
    "shown_periods",
    "sizes_of",
    "stated_losses",
    "summary_of",
    "table_columns",
    "table_schema",
    "terms_of",
    "time_grid",
    "time_kinds",
    "times_found",
    "total",
    "window_of_periods",
    "window_text",
    "with_buckets",
    "write_files",
    "write_parquet",
    "write_words",
]

if TYPE_CHECKING:
    from hushway.arrays import FloatArray, IntArray
    from hushway.auditing.harness import Trial, World, as_many
    from hushway.auditing.product import filled_budget
    from hushway.auditing.suite import Mutant, Suite
    from hushway.engine.embedded import EmbeddedSession
    from hushway.engine.grids import TimeGrid, load_places, time_grid
    from hushway.engine.key import BoundingKey, kept_in_circle
    from hushway.engine.opening import open_session
    from hushway.engine.profile import place_counts, places_found, sizes_of, times_found
    from hushway.engine.reading import read_rows
    from hushway.engine.row_checks import (
        LEAVE_OUT,
        OUTSIDE_WINDOW,
        ROW_WORDS,
        TOO_MANY,
        UNKNOWN,
        counts_found,
        first_row,
        ids_with_too_many,
        looked_up,
        null_kinds,
        rows_between,
        rows_checked,
        rows_found,
        summary_of,
        time_kinds,
        with_buckets,
    )
    from hushway.engine.session import Reading, Session, Sums
    from hushway.engine.settings import EngineSettings
    from hushway.errors import DataError, ReleaseError, damaged
    from hushway.geography.locations import Location, Locations
    from hushway.geography.period_words import counted_text, window_text
    from hushway.geography.periods import Periods
    from hushway.privacy.accounting import rho_for
    from hushway.privacy.bound import Bound, Unit
    from hushway.privacy.calibration import noise_for
    from hushway.privacy.certificate import Certificate, Contribution, Terms
    from hushway.privacy.curator import Curator
    from hushway.privacy.ledger import Window
    from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, exact, loss_of, total
    from hushway.privacy.measured import Measured
    from hushway.privacy.public_facts import digest_of, public_facts
    from hushway.privacy.query import ExactCounts, PartitionQuery, Query
    from hushway.privacy.randomness import SeededSource, os_source
    from hushway.progress import Progress, ShareProgress
    from hushway.release.catalogue import Catalogue, MechanismSpec
    from hushway.release.drawing.atlas import Drawing, Numbers
    from hushway.release.drawing.atlas_parts import located, shown_periods
    from hushway.release.drawing.ground import plane, png_of, poster, write_words
    from hushway.release.family import Example, Family
    from hushway.release.folder.finding import Notes
    from hushway.release.folder.published_file import (
        Contents,
        Description,
        PublishedFile,
        Resource,
        check_files,
        describe_files,
        locations_columns,
        periods_file,
        table_schema,
        write_files,
    )
    from hushway.release.forecast.compared import ComparedTable
    from hushway.release.forecast.study_budget import StudyBudget
    from hushway.release.formats.columns import LABEL, Column, table_columns, write_parquet
    from hushway.release.formats.places import (
        csv_parts,
        locations_csv,
        published_periods,
        published_places,
        required_columns,
    )
    from hushway.release.job import CountingContext, Job, Wording, window_of_periods
    from hushway.release.mechanism import (
        FixedQuestions,
        Forecast,
        Measurements,
        Question,
        budget_for,
    )
    from hushway.release.plans.first_plan import Intake
    from hushway.release.plans.missing import NamedTable
    from hushway.release.plans.sections import (
        AnyPlan,
        LossPlan,
        PlaceColumnsPlan,
        ProblemsPlan,
        RowsPlan,
        Section,
        TimePlan,
    )
    from hushway.release.plans.values import PositiveShare, Text
    from hushway.release.terms import (
        TERMS_HOLD,
        check_domain,
        check_release_type,
        check_terms,
        listed,
        rebuilt,
        stated_losses,
        terms_of,
    )
    from hushway.release.untrusted.limits import LIST_BYTES, csv_rows, read_plain
    from hushway.release.untrusted.parquet import open_parquet
    from hushway.release.wording import claim_text, plural
    from hushway.tables.check import Policy, RowsChecked
    from hushway.tables.layout import Columns, Layout, TimedSource
    from hushway.tables.locations import LocationColumns, read_locations
else:
    __getattr__, __dir__ = attach(__name__, __all__)
