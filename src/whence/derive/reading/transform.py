"""What executors do with the records of a partition: an end of the pipeline's one pass, or of a copy."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from whence.log import Record


@dataclass(frozen=True, slots=True)
class Transform:
    """A function of a partition's records, in their order, and the schema of the batches that it returns. Executors
    get it pickled.
    """

    schema: pa.Schema
    run: Callable[[Iterable[Record]], Iterator[pa.RecordBatch]]
