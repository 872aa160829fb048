"""run facets as templates and variables: the packs of the releases before are split"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
from alembic import op

from whence.store.encryption.keyring import keys_in, open_pack, seal_packs, seal_templates, store_key
from whence.store.encryption.master_key import DataKey
from whence.store.schema.facet_templates import (
    RunFacet,
    Template,
    TemplateParts,
    encode_variables,
    make_template,
    split_facets,
)
from whence.store.schema.packed import inflate

revision = "0003"
down_revision = "0002"

_ROWS = 5_000

_PACKS = sa.text("SELECT run_id, shape_id, time, rank, event_id, content FROM packed_facets")

_decode_facets = msgspec.msgpack.Decoder(list[RunFacet]).decode


def upgrade() -> None:
    op.rename_table("run_facets", "packed_facets")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER INDEX run_facets_pkey RENAME TO packed_facets_pkey")
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    facet_template = op.create_table(
        "facet_template",
        _column("id", key),
        _column("content", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("id"),
    )
    run_facets = op.create_table(
        "run_facets",
        *(_column(name, sa.BigInteger()) for name in ("run_id", "shape_id", "time")),
        _column("rank", sa.SmallInteger()),
        *(_column(name, sa.BigInteger()) for name in ("event_id", "template_id")),
        _column("content", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("run_id", "shape_id"),
        sqlite_with_rowid=False,
    )
    _split_packs(facet_template, run_facets)
    op.drop_table("packed_facets")


def _column(name: str, type_: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, type_, autoincrement=False, nullable=False)


def _split_packs(facet_template: sa.Table, run_facets: sa.Table) -> None:
    connection = op.get_bind()
    key, find = store_key(connection), keys_in(connection)
    templates: dict[TemplateParts, Template] = {}
    for rows in _packs(connection):
        known = len(templates)
        split = []
        for run_id, shape_id, time, rank, event_id, content in rows:
            parts, variables = split_facets(_decode_facets(inflate(open_pack(find, run_id, content))))
            template = templates.get(parts) or templates.setdefault(parts, make_template(parts))
            split.append((run_id, shape_id, time, rank, event_id, template.id, encode_variables(variables)))
        _insert(facet_template, _seal(key, list(templates.values())[known:]))
        _insert(run_facets, seal_packs(key, split))


def _packs(connection: sa.Connection) -> Iterator[Sequence[Any]]:
    yield from connection.execute(_PACKS, execution_options={"yield_per": _ROWS}).partitions(_ROWS)


def _seal(key: DataKey | None, templates: Sequence[Template]) -> Sequence[tuple[Any, ...]]:
    return seal_templates(key, [(template.id, template.content) for template in templates])


def _insert(table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    names = [column.name for column in table.columns]
    op.bulk_insert(table, [dict(zip(names, row, strict=True)) for row in rows])
