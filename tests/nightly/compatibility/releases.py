"""The releases of Spark that `whence-client` is run with, and the newest builds of Delta Lake and Iceberg for each."""

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Release:
    """A release of PySpark, which `sparkXY.lock` pins; Maven coordinates, empty where there is no build for it."""

    spark: str
    delta: str = ""
    iceberg: str = ""

    @property
    def name(self) -> str:
        """Such as `spark35`."""
        major, minor, _ = self.spark.split(".")
        return f"spark{major}{minor}"

    @property
    def lock(self) -> Path:
        return HERE / f"{self.name}.lock"


_ICEBERG = "org.apache.iceberg:iceberg-spark-runtime"

RELEASES = (
    Release("3.3.4", "io.delta:delta-core_2.12:2.3.0", f"{_ICEBERG}-3.3_2.12:1.6.1"),
    Release("3.5.9", "io.delta:delta-spark_2.12:3.3.3", f"{_ICEBERG}-3.5_2.12:1.12.0"),
    Release("4.0.5", "io.delta:delta-spark_4.0_2.13:4.4.0", f"{_ICEBERG}-4.0_2.13:1.11.0"),
    Release("4.1.4", "io.delta:delta-spark_4.1_2.13:4.4.0", f"{_ICEBERG}-4.1_2.13:1.12.0"),
    Release("4.2.1", "io.delta:delta-spark_4.2_2.13:4.4.0"),
    Release("4.3.0"),
)
