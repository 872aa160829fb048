"""Edits as in pull requests of dbt projects in three dialects: `queries/reviews.txt`, with what executing showed.

A project is macros and models, in Jinja; an edit replaces text of it as in `query_edits`. Truths name columns as
`model.column`. `incremental` behind a model's name: it is compiled for a run that adds rows.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import jinja2

from capture.sql.gate_corpus.query_edits import Edit, edits

RAW: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "postgres": {
        "app.orders": {
            "id": "integer",
            "customer_id": "integer",
            "status": "varchar",
            "amount_cents": "integer",
            "created at": "timestamp",
            "Discount %": "numeric(5, 2)",
            "coupon": "varchar",
            "is_gift": "boolean",
        },
        "app.customers": {
            "id": "integer",
            "email": "varchar",
            "first_name": "varchar",
            "last_name": "varchar",
            "country": "varchar",
            "select": "varchar",
            "signed_up": "date",
            "deleted": "boolean",
        },
        "app.payments": {
            "id": "integer",
            "order_id": "integer",
            "method": "varchar",
            "amount_cents": "integer",
            "state": "varchar",
            "paid_at": "timestamp",
        },
    },
    "snowflake": {
        "app.events": {
            "id": "integer",
            "user_id": "integer",
            "kind": "varchar",
            "at": "timestamp",
            "source": "varchar",
            "value": "integer",
        },
        "app.users": {
            "id": "integer",
            "country": "varchar",
            "plan": "varchar",
            "referrer": "varchar",
            "created_at": "timestamp",
            "updated_at": "timestamp",
        },
    },
    "bigquery": {
        "raw.clicks": {
            "click_id": "int64",
            "campaign_id": "int64",
            "clicked_at": "timestamp",
            "cost": "string",
            "device": "string",
        },
        "raw.campaigns": {
            "campaign_id": "int64",
            "name": "string",
            "channel": "string",
            "budget": "numeric",
            "active": "bool",
            "internal_note": "string",
        },
        "raw.conversions": {
            "conversion_id": "int64",
            "click_id": "int64",
            "amount": "numeric",
            "converted_at": "timestamp",
        },
    },
}
"""The types of the columns of the sources, by dialect."""


@dataclass(frozen=True, slots=True)
class Model:
    """One model, compiled. `kind`: `incremental`, `snapshot` or nothing."""

    name: str
    sql: str
    kind: str
    parents: tuple[str, ...]


@cache
def review_edits() -> tuple[Edit, ...]:
    """All edits; a statement is the text of a project."""
    return edits("reviews")


def dialect_of(edit: Edit) -> str:
    return edit.statement.split()[0]


def compiled(text: str, own: str = "{}") -> Iterator[Model]:
    """The models of a project's text. `own`: how a model's own table is written, `{}` for its name."""
    parts = re.split(r"---- (\w+)( incremental| snapshot)?\s", text)
    texts = list(zip(parts[1::3], parts[2::3], parts[3::3], strict=True))
    macros = "".join(body for name, _, body in texts if name == "macros")
    for name, kind, body in texts:
        if name != "macros":
            yield _model(name, (kind or "").strip(), macros + body, own)


def _model(name: str, kind: str, text: str, own: str) -> Model:
    parents: dict[str, None] = {}

    def named(table: str) -> str:
        parents[table] = None
        return table

    sql = (
        jinja2.Environment()
        .from_string(text)
        .render(
            ref=named,
            source=lambda schema, table: named(f"{schema}.{table}"),
            is_incremental=lambda: kind == "incremental",
            this=own.format(name),
        )
    )
    named_in_text = re.findall(r"`(\w+)`\.`(\w+)`|`(\w+)\.(\w+)`", sql)
    for groups in named_in_text:
        named(".".join(group for group in groups if group))
    return Model(name, sql.strip(), kind, tuple(parents))
