"""From CPU an event, stage by stage, to events per second on many cores (docs/explanation/scaling.md). Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Seconds of CPU an event. What begins with `server` is PostgreSQL's; it is 0 with SQLite."""

    read: float
    """In the executors: reading, and the rows that follow."""
    write: float
    """In the executors, in the transaction that writes facts."""
    settle: float
    """In the driver, between two micro-batches."""
    server_merge: float = 0
    server_settle: float = 0
    spark_shared: float = 0
    """Spark's own in the executors: JVM, and workers beyond what they read and write."""
    spark_driver: float = 0
    """Spark's own in the driver."""
    has_one_writer: bool = True
    """Whether only one transaction writes at a time."""

    @property
    def total(self) -> float:
        """Of all processes."""
        return self.shared + self.serial + self.server_settle

    @property
    def shared(self) -> float:
        """What executors do at the same time, but for waiting for each other's transactions."""
        return self.read + self.write + self.server_merge + self.spark_shared

    @property
    def serial(self) -> float:
        """What the driver does alone, while its executors wait."""
        return self.settle + self.spark_driver

    @property
    def limit(self) -> float:
        """The events per second that no number of cores exceeds."""
        return 1 / (self.serial + self.server_settle + (self.write if self.has_one_writer else 0))

    def rate(self, cores: int) -> float:
        """Events per second, if each core has an executor and nothing else is short."""
        merging = self.shared / cores
        if self.has_one_writer:
            merging = max(merging, self.write)
        return 1 / (merging + self.serial + self.server_settle)
