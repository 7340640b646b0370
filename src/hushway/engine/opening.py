"""Which engine it is: only the one that is used is loaded."""

from collections.abc import Iterator
from contextlib import contextmanager

from hushway.engine.session import Session
from hushway.engine.settings import EngineSettings


@contextmanager
def open_session(settings: EngineSettings) -> Iterator[Session]:
    """Opens the engine that the settings name, for one piece of work.

    Raises:
        DataError: The settings cannot be met, or a CSV file that was read has an open quote.
    """
    if settings.cluster is not None:
        from hushway.engine.spark.session import spark_session

        with spark_session(settings, settings.cluster) as cluster:
            yield cluster
        return
    if settings.warehouse is not None:
        from hushway.engine.warehouse.session import warehouse_session

        with warehouse_session(settings, settings.warehouse) as beside:
            yield beside
        return
    from hushway.engine.embedded import embedded_session

    with embedded_session(settings) as session:
        yield session
