"""What every column of the demo's pipeline derives from, written by hand from reading src/whence/demo/stages.py.

Datasets are paths below the pipeline's data directory; a column is `dataset.column`. DIRECT: the value flows. INDIRECT:
the value decides (join keys, filters, group-by keys, conditions).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Variant = Literal["first", "altered"]
Columns = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """One step back: what the columns of one dataset are computed from."""

    direct: dict[str, Columns]
    indirect: dict[str, Columns] = field(default_factory=dict)
    """INDIRECT sources of single columns."""
    whole: Columns = frozenset()
    """INDIRECT sources of the whole dataset, so of each of its columns."""


@dataclass(frozen=True, slots=True)
class Origins:
    """All the way back: the raw columns that a column derives from."""

    direct: Columns
    indirect: Columns


def _of(dataset: str, columns: str) -> Columns:
    return frozenset(f"{dataset}.{column}" for column in columns.split())


def _copies(dataset: str, columns: str) -> dict[str, Columns]:
    return {column: _of(dataset, column) for column in columns.split()}


_CRM = "customer_id name email signup_date contract_type tenure monthly_charges churned"
_FEATURE_COLUMNS = "tenure monthly_charges is_monthly days_since_last_login avg_session_minutes support_tickets"
_MODEL = "features churned"

_UNCHANGED = {
    "bronze/crm_export": Derivation(direct=_copies("raw/crm_export", _CRM)),
    "bronze/usage_logs": Derivation(
        direct=_copies("raw/usage_logs", "customer_id last_login session_minutes device"),
    ),
    "bronze/support_tickets": Derivation(
        direct=_copies("raw/support_tickets", "ticket_id customer_id opened_at severity subject"),
    ),
    # where(customer_id is not null).dropDuplicates(customer_id)
    "silver/customers": Derivation(
        direct=_copies("bronze/crm_export", "customer_id signup_date contract_type tenure monthly_charges churned")
        | {"email_hash": _of("bronze/crm_export", "email")},
        whole=_of("bronze/crm_export", "customer_id"),
    ),
    # where(session_minutes > 0)
    "silver/sessions": Derivation(
        direct=_copies("bronze/usage_logs", "customer_id last_login session_minutes"),
        whole=_of("bronze/usage_logs", "session_minutes"),
    ),
    # priority = when severity is one of … then a literal: no value of severity reaches it
    "silver/tickets": Derivation(
        direct=_copies("bronze/support_tickets", "ticket_id customer_id opened_at"),
        indirect={"priority": _of("bronze/support_tickets", "severity")},
    ),
    # a field for each column that the fit was given: the vector of all features, and the label
    "models/churn": Derivation(
        direct={"features": _of("gold/features", _FEATURE_COLUMNS), "churned": _of("gold/features", "churned")},
    ),
    # the features and the model
    "gold/predictions": Derivation(
        direct=_copies("gold/features", "customer_id")
        | dict.fromkeys(
            ("churn_probability", "churn_label"),
            _of("gold/features", _FEATURE_COLUMNS) | _of("models/churn", _MODEL),
        ),
    ),
}

_FEATURES = _copies("silver/customers", "customer_id tenure monthly_charges churned") | {
    "is_monthly": _of("silver/customers", "contract_type"),
    "days_since_last_login": _of("silver/sessions", "last_login"),
    "avg_session_minutes": _of("silver/sessions", "session_minutes"),
    "support_tickets": _of("silver/tickets", "ticket_id"),
}
_JOIN_KEYS = (
    _of("silver/customers", "customer_id")
    | _of("silver/sessions", "customer_id")
    | _of("silver/tickets", "customer_id")
)

STEPS: dict[Variant, dict[str, Derivation]] = {
    "first": _UNCHANGED | {"gold/features": Derivation(direct=_FEATURES, whole=_JOIN_KEYS)},
    # only urgent tickets are joined, and the last ticket counts as a sign of life
    "altered": _UNCHANGED
    | {
        "gold/features": Derivation(
            direct=_FEATURES
            | {"days_since_last_login": _of("silver/sessions", "last_login") | _of("silver/tickets", "opened_at")},
            whole=_JOIN_KEYS | _of("silver/tickets", "priority"),
        )
    },
}

# Every row of features passes the filter on session_minutes (of the sessions it is joined with) and the three joins.
_INDIRECT = (
    _of("raw/crm_export", "customer_id")
    | _of("raw/usage_logs", "customer_id session_minutes")
    | _of("raw/support_tickets", "customer_id")
)
_SCORE = (
    _of("raw/crm_export", "tenure monthly_charges contract_type churned")
    | _of("raw/usage_logs", "last_login session_minutes")
    | _of("raw/support_tickets", "ticket_id")
)

_URGENT = _of("raw/support_tickets", "severity")
_LAST_TICKET = _of("raw/support_tickets", "opened_at")

PREDICTIONS: dict[Variant, dict[str, Origins]] = {
    "first": {
        "customer_id": Origins(_of("raw/crm_export", "customer_id"), _INDIRECT),
        "churn_probability": Origins(_SCORE, _INDIRECT),
        "churn_label": Origins(_SCORE, _INDIRECT),
    },
    "altered": {
        "customer_id": Origins(_of("raw/crm_export", "customer_id"), _INDIRECT | _URGENT),
        "churn_probability": Origins(_SCORE | _LAST_TICKET, _INDIRECT | _URGENT),
        "churn_label": Origins(_SCORE | _LAST_TICKET, _INDIRECT | _URGENT),
    },
}
"""The raw columns behind every column of gold/predictions."""

IMPACT_OF_LAST_LOGIN: Columns = frozenset(
    {
        "bronze/usage_logs.last_login",
        "silver/sessions.last_login",
        "gold/features.days_since_last_login",
        "models/churn.features",
        "gold/predictions.churn_probability",
        "gold/predictions.churn_label",
    }
)
"""Every column that changes if raw/usage_logs.last_login does, in both variants."""


def origins(steps: dict[str, Derivation], column: str) -> Origins:
    """Follow the steps from a column to the raw columns: INDIRECT once on the way is INDIRECT for good."""
    reached: set[tuple[str, bool]] = set()
    waiting = [(column, False)]
    while waiting:
        name, indirect = waiting.pop()
        if (name, indirect) not in reached:
            reached.add((name, indirect))
            waiting += [(source, indirect or by_influence) for source, by_influence in _sources(steps, name)]
    raw = [(name, indirect) for name, indirect in reached if name.startswith("raw/")]
    return Origins(frozenset(n for n, indirect in raw if not indirect), frozenset(n for n, indirect in raw if indirect))


def _sources(steps: dict[str, Derivation], name: str) -> Iterable[tuple[str, bool]]:
    dataset, _, column = name.rpartition(".")
    if step := steps.get(dataset):
        yield from ((source, False) for source in step.direct.get(column, ()))
        yield from ((source, True) for source in step.indirect.get(column, frozenset()) | step.whole)
