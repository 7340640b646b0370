"""A prepared release of any family: plan, geography, mechanism, rows and days, before any count."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Protocol
from zoneinfo import ZoneInfo

from hushway.errors import DataError
from hushway.geography.periods import Periods
from hushway.numerics.threads import processors
from hushway.privacy.bound import Bound
from hushway.privacy.ledger.window import Window
from hushway.progress import ShareProgress
from hushway.release.plans.sections import AnyPlan

if TYPE_CHECKING:
    from hushway.engine.key import BoundingKey
    from hushway.engine.settings import EngineSettings, Warehouse
    from hushway.geography.ground import Bounds
    from hushway.privacy.certificate import Terms
    from hushway.privacy.ledger import AccountKey
    from hushway.privacy.query import Cells, Counter
    from hushway.privacy.randomness import BitSource
    from hushway.release.mechanism import Measurements, Mechanism
    from hushway.tables.check import RowsChecked
    from hushway.tables.header import Clock


@dataclass(frozen=True, kw_only=True)
class CountingContext:
    """What a counter is given besides the rows.

    Attributes:
        key: Decides which of a unit's rows are kept.
        progress: Told from 0 to 1 how far it is.
    """

    key: "BoundingKey"
    bits: "BitSource"
    settings: "EngineSettings"
    progress: ShareProgress


class Rows(Protocol):
    """The protected rows, which a family knows how to check and to count."""

    def check(self, settings: "EngineSettings", *, notes: bool) -> "RowsChecked":
        """Returns what is wrong with the rows; with notes also what may be, and what was found."""

    def counter(self, context: CountingContext) -> "Counter":
        """Returns a counter of them that bounds each unit."""


@dataclass(frozen=True, kw_only=True)
class Wording:
    """What a family says of a release on the steward's screen.

    Attributes:
        rows: What the rows are called, such as "taps".
        universe: The public universe in one sentence, for the steward's screen.
        noise: Which kind of noise is better and why, if there is a choice.
    """

    rows: str
    counted: str
    universe: str
    noise: str | None = None


def _nothing_to_refuse() -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Job:
    """A plan with its public files read and its mechanism set up. No row has been read.

    Attributes:
        terms: What its certificate will say, as far as public facts reach.
        settled_terms: Where noisy answers decide what is asked: what the certificate says after.
        window: The days whose rows may be counted.
        wording: What is said of it on the screen.
        bounds: Where its public places are; None if it has no map.
        check_writable: Refuses what could not be written, before anything is spent.
    """

    plan: AnyPlan
    geography: "Cells"
    bound: Bound
    mechanism: "Mechanism[Any, Any]"
    terms: "Terms"
    window: Window
    rows: Rows
    wording: Wording
    settled_terms: "Callable[[Measurements], Terms] | None" = None
    bounds: "Bounds | None" = None
    check_writable: Callable[[], None] = _nothing_to_refuse

    @property
    def account(self) -> "AccountKey":
        """The account of the ledger that is charged."""
        from hushway.privacy.ledger import AccountKey

        plan = self.plan
        return AccountKey(dataset=plan.data.name, unit=plan.privacy.unit, period=plan.ledger.period)


def settings_of(plan: AnyPlan) -> "EngineSettings":
    """Returns how much of this machine the counting may use.

    More threads than processors would only wait for each other, and thousands of them could take
    the machine down, so there are at most as many; a plan made for a larger machine goes on, and
    counts the same.
    """
    from hushway.engine.settings import Cluster, EngineSettings, refuse_little_memory

    engine = plan.engine
    threads = _threads_here(engine.threads)
    refuse_little_memory(engine.memory_limit, threads)
    return EngineSettings(
        memory_limit=engine.memory_limit,
        threads=threads,
        temp_folder=None if engine.temp_folder is None else plan.path(engine.temp_folder),
        encrypt_spills=_encryption(engine.encrypt_spills),
        cluster=Cluster(master=engine.master, parts=engine.parts)
        if engine.kind == "spark"
        else None,
        warehouse=_warehouse(plan),
    )


def _encryption(wanted: bool | None) -> bool | None:
    """Returns whether rows that do not fit into memory must be encrypted on disk.

    Where a plan leaves it open and this machine can, all machines must: a worker of a cluster
    without the library refuses, instead of doing less than the steward takes for granted. Where
    this machine cannot, the steward is told so, and workers that can still do.
    """
    from hushway.engine.spilling import can_encrypt_spills

    return True if wanted is None and can_encrypt_spills() else wanted


def _warehouse(plan: AnyPlan) -> "Warehouse | None":
    from hushway.engine.settings import Warehouse

    if plan.engine.kind != "warehouse":
        return None
    url = plan.engine.url
    if url is None:
        raise DataError(
            "The engine is a warehouse, and nothing says where it is.",
            advice="Set url in [engine], or HUSHWAY_ENGINE_URL, such as "
            "postgres://user@host/database.",
        )
    # The only warehouse that is a file, named from the plan's own folder as other files are.
    scheme, separator, file = url.partition("://")
    if scheme == "duckdb":
        url = f"{scheme}{separator}{plan.path(file)}"
    return Warehouse(url=url)


def _threads_here(asked: int | None) -> int | None:
    most = processors()
    if asked is None or asked <= most:
        return asked
    logging.getLogger(__name__).warning(
        "The plan asks for more threads than the %d processors that hushway may use here: it uses "
        "%d.",
        most,
        most,
    )
    return most


_DAY_MINUTES = 24 * 60


def window_of_periods(periods: Periods, *, clock: "Clock" = "local") -> Window:
    """Returns the window of all days on which a row may count.

    Privacy:
        A service day that goes on after midnight counts rows of the day that follows, so that day
        is in the window, and is charged as a whole like any other. Hours of a service day may be
        meant from noon less twelve hours on, as timetables do. Where the clocks change that is
        not midnight, so the window's real time holds both.
    """
    window = window_of_days(periods.first_day, periods.last_touched_day, periods.zone, clock=clock)
    if clock != "service":
        return window
    zone, half_day = ZoneInfo(periods.zone), timedelta(hours=12)

    def noon(day: date) -> datetime:
        return datetime.combine(day, time(12), tzinfo=zone).astimezone(UTC)

    closes = timedelta(minutes=periods.closes)
    return replace(
        window,
        start=min(window.start, noon(periods.first_day) - half_day),
        end=max(window.end, noon(periods.last_day) - half_day + closes),
    )


def window_of_days(
    first_day: date, last_day: date, zone: str, *, clock: "Clock" = "local"
) -> Window:
    """Returns the window of some days in a time zone."""
    days = Periods(
        zone=zone,
        first_day=first_day,
        last_day=last_day,
        opens=0,
        closes=_DAY_MINUTES,
        minutes=_DAY_MINUTES,
    )
    # Midnight may come twice, or not at all. A day that no clock ever showed lies in UTC.
    slots = days.instant_slots or days.wall_slots
    return Window(
        first_day=first_day,
        last_day=last_day,
        # Hours of a service day are times of the wall clock, written otherwise.
        clock="utc" if clock == "utc" else "local",
        start=_moment(min(slot.start_us for slot in slots)),
        end=_moment(max(slot.end_us for slot in slots)),
    )


def _moment(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
