"""Statements for names, fields and alias groups of given ids, compiled once for each dialect.

The ids are a list, not a table: SQLite's planner may scan a small table once for each id.
"""

from functools import lru_cache
from typing import Any

from sqlalchemy import Select, select

from whence.store.schema.array_parameters import given
from whence.store.schema.tables import alias_group, dataset, field, job


@lru_cache
def datasets_named(dialect: str) -> Select[Any]:
    """(id, namespace, name)."""
    return select(dataset.c.id, dataset.c.namespace, dataset.c.name).where(dataset.c.id.in_(_ids(dialect)))


@lru_cache
def jobs_named(dialect: str) -> Select[Any]:
    """(id, namespace, name)."""
    return select(job.c.id, job.c.namespace, job.c.name).where(job.c.id.in_(_ids(dialect)))


@lru_cache
def fields_named(dialect: str) -> Select[Any]:
    """(id, name, the dataset's namespace and name)."""
    return (
        select(field.c.id, field.c.name, dataset.c.namespace, dataset.c.name)
        .select_from(field.join(dataset, dataset.c.id == field.c.dataset_id))
        .where(field.c.id.in_(_ids(dialect)))
    )


@lru_cache
def fields_statement(dialect: str) -> Select[Any]:
    """The fields of datasets: (dataset, id, name)."""
    return select(field.c.dataset_id, field.c.id, field.c.name).where(field.c.dataset_id.in_(_ids(dialect)))


@lru_cache
def groups_statement(dialect: str) -> Select[Any]:
    """The members of the alias groups of datasets: (dataset, whether it is the first, its namespace and name)."""
    member = alias_group.alias()
    chosen = member.c.dataset_id == alias_group.c.representative_id
    return (
        select(alias_group.c.dataset_id, chosen, dataset.c.namespace, dataset.c.name)
        .where(alias_group.c.dataset_id.in_(_ids(dialect)))
        .join(member, member.c.representative_id == alias_group.c.representative_id)
        .join(dataset, dataset.c.id == member.c.dataset_id)
    )


def _ids(dialect: str) -> Select[Any]:
    return select(given(dialect, "id").c.id)
