"""The types of answers about the installation: health, status, progress."""

from typing import Literal

from typing_extensions import TypedDict


class LiveDocument(TypedDict):
    """The process responds."""

    status: Literal["live"]


class CheckDocument(TypedDict):
    """Whether one station or scheduled job works, and the detail."""

    ok: bool
    detail: str


class ReadyDocument(TypedDict):
    """The health of each station, the outcomes of requests since this process began, and the scheduled jobs."""

    status: Literal["ready", "not ready"]
    checks: dict[str, CheckDocument]
    counts: dict[str, int]
    scheduled: dict[str, CheckDocument]


class ProgressDocument(TypedDict):
    """The store has every event before `position`; the log ends at `head`. `reached`: the store has `wait_for`."""

    position: str
    head: str
    reached: bool


class LogAmount(TypedDict):
    """Records and bytes of the log; `bytes` is null where the log does not count them."""

    records: int
    bytes: int | None


class Waiting(LogAmount):
    """Records that the store does not have yet, and for how many seconds the oldest one has waited."""

    seconds: float


Damage = TypedDict("Damage", {"from": str, "to": str, "state": str, "records": int, "found_at": float})
Damage.__doc__ = "A damaged range of the log, and when it was found (seconds since 1970)."


class ProducerDocument(TypedDict):
    """The events of one producer in one version. `last_seen`: seconds since 1970."""

    producer: str
    version: str
    events: int
    last_seen: float
    restricted: int
    example: str


class DisagreeingJob(TypedDict):
    """A job whose SQL and column lineage disagree, and on how many edges."""

    job: str
    missing_in_report: int
    missing_in_parse: int


class SqlDisagreements(TypedDict):
    """On how many column edges producers and the SQL parser disagree."""

    jobs_compared: int
    jobs_disagreeing: int
    missing_in_report: int
    missing_in_parse: int
    worst: list[DisagreeingJob]


class StoreStatus(TypedDict):
    """The contents of the store, counted at `counted_at` (seconds since 1970)."""

    counted_at: float
    bytes: int
    applied: int
    duplicate: int
    quarantined: int
    quarantined_by_reason: dict[str, int]
    producers: list[ProducerDocument]
    runs_without_start: int
    runs_without_end: int
    sql: SqlDisagreements


class ContractStatus(TypedDict):
    """The contracts that hold now. `violated`: those with a violation; `violations`: of all of them; `not_evaluated`:
    those of which it is not known whether they are violated; `unevaluated_rules`: rules that nothing decides.
    """

    contracts: int
    violated: int
    violations: int
    not_evaluated: int
    unevaluated_rules: int


class StatusDocument(TypedDict):
    """What was received, waits and was rejected, and the contents of the store."""

    received: LogAmount
    waiting: Waiting
    missing: int | None
    damaged: list[Damage]
    refused: dict[str, int]
    contracts: ContractStatus | None
    store: StoreStatus | None
