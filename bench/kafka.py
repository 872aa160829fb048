"""Events per second from a topic of Kafka into PostgreSQL, by the stream, on both cores. The database is on them, too;
its CPU time is not counted.
"""

import sys
import tempfile
from pathlib import Path

from bench.derive import derive_warm, line_of
from bench.million import databases
from services.kafka_broker import KafkaBroker
from whence.log.address import open_log


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
        base = Path(directory)
        broker = KafkaBroker(base / "kafka").start()
        logs = [open_log(broker.new_topic(partitions=2, trusted="*")) for _ in range(2)]
        with databases(base / "postgres") as database:
            derived = derive_warm(logs, [database(), database()], base)
        broker.stop()
    sys.stdout.write(line_of("kafka", derived, "from Kafka to the settled PostgreSQL store"))


if __name__ == "__main__":
    main()
