"""The run ids that Airflow's OpenLineage provider gives, so that its runs and polled ones are the same.

They are UUIDv7 of the logical date, with a hash of names in the place of random bits (openlineage-python 1.54,
`generate_static_uuid`; provider 2.20, `build_task_instance_ol_run_id`). tests/nightly/orchestrators compares them.
"""

import hashlib
from datetime import UTC, datetime
from uuid import UUID

from whence.openlineage.json.wire import Json

_TIMES = ("logical_date", "run_after")


def logical_date(run: Json) -> datetime | None:
    """The date that names a DAG run: the logical one, else the time from which it may run."""
    text = next((str(run[name]) for name in _TIMES if run.get(name)), "")
    return datetime.fromisoformat(text) if text else None


def dag_run_id(namespace: str, dag: str, at: datetime, clearings: int) -> str:
    """The run of a DAG: another one after each time that somebody cleared it."""
    return _uuid(at, f"{namespace}.{dag}.{clearings}")


def try_run_id(namespace: str, dag: str, task: str, try_number: int, at: datetime, place: int) -> str:
    """The run of a try of a task instance."""
    return _uuid(at, f"{namespace}.{dag}.{task}.{try_number}.{place}")


def _uuid(at: datetime, data: str) -> str:
    at = at.astimezone(UTC)
    digest = hashlib.sha1(at.isoformat().encode() + data.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    value = (int(at.timestamp() * 1000) & ((1 << 48) - 1)) << 80 | int.from_bytes(digest.digest()) >> 84
    value = value & ~(0xF << 76) | 7 << 76
    return str(UUID(int=value & ~(0b11 << 62) | 0b10 << 62))
