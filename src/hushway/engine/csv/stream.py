"""CSV files as one Arrow stream that DuckDB can scan as often as it likes."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa

from hushway.engine.csv.fields import fields_of_lines, schema_of
from hushway.engine.csv.lines import blocks_of_lines
from hushway.tables.layout import Layout


class CsvStream:
    """The rows of CSV files, the columns of a layout alone, as texts.

    Attributes:
        malformed: How many lines were malformed, known after a scan to the end.
        share: Which share of the files the latest scan has read.

    Args:
        layout: Where the files are, and which columns are needed.
        threads: How many blocks of lines are read at once.

    Raises:
        OSError: A file is not there.
    """

    def __init__(self, layout: Layout, threads: int) -> None:
        self.malformed = 0
        self.share = 0.0
        self._layout = layout
        self._threads = threads
        self._bytes = sum(path.stat().st_size for path in layout.files.paths)
        self._columns = np.array(sorted(set(layout.places.values())), dtype=np.int64)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Begins a scan; DuckDB also asks for one to know the columns, and reads none of it."""
        reader = pa.RecordBatchReader.from_batches(schema_of(self._columns), self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        malformed, self.share = 0, 0.0
        with ThreadPoolExecutor(max_workers=self._threads) as pool:
            waiting: deque[Future[tuple[pa.RecordBatch, int]]] = deque()
            for block in self._blocks():
                waiting.append(pool.submit(self._parsed, block))
                if len(waiting) > self._threads:
                    batch, some = waiting.popleft().result()
                    malformed += some
                    yield batch
            for future in waiting:
                batch, some = future.result()
                malformed += some
                yield batch
        self.malformed = malformed

    def _parsed(self, block: bytes) -> tuple[pa.RecordBatch, int]:
        return fields_of_lines(block, self._layout.delimiter, self._layout.width, self._columns)

    def _blocks(self) -> Iterator[bytes]:
        before = 0
        for path in self._layout.files.paths:
            with path.open("rb") as opened:
                for block in blocks_of_lines(path, opened):
                    self.share = (before + opened.tell()) / max(self._bytes, 1)
                    yield block
                before += opened.tell()
