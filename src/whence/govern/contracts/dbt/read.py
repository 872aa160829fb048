"""Reading the contracts that dbt enforces: one for each model, and for each version of a model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from whence.govern.contracts.contract import DBT, Contract, ContractColumn, ContractTable, Rule
from whence.govern.contracts.dbt.models import Located, ModelVersion, find_models, located
from whence.govern.yaml_values import Path, Values


def read_models(values: Values, package: str = "") -> tuple[Contract, ...]:
    """The enforced contracts in a checked file. Their ids are dbt's: `model.shop.orders.v2`; without the project's
    name (`package`) `orders.v2`. They name no datasets: a file of dbt does not contain where its tables are.
    """
    reading = _Reading(values, package, dict(_group_owners(values.root)))
    return tuple(reading.contract(one) for one in find_models(values) if one.is_enforced)


def _group_owners(root: Any) -> Iterator[tuple[str, str]]:
    """The owners of the groups that the same file defines."""
    for one in located(root, (), "groups"):
        owner = one.value.get("owner")
        found = (owner.get("email") or owner.get("name")) if isinstance(owner, dict) else None
        if isinstance(found, str) and isinstance(one.value.get("name"), str):
            yield one.value["name"], found


@dataclass(frozen=True, slots=True)
class _Reading:
    values: Values
    package: str
    groups: Mapping[str, str]

    def contract(self, model: ModelVersion) -> Contract:
        end = model.stated("deprecation_date")
        return Contract(
            id=f"model.{self.package}.{model.name}" if self.package else model.name,
            version="",
            status="deprecated" if end else "active",
            standard=DBT,
            name=model.name,
            owners=tuple(dict.fromkeys(self._owners(model))),
            tables=(self._table(model),),
            ends=str(end or ""),
            file=self.values.file,
            text=self._text(model),
            lines=self._lines(model),
        )

    def line(self, path: Path) -> int:
        return int(self.values.place(path).rpartition(":")[2])

    def _lines(self, model: ModelVersion) -> Mapping[str, int]:
        first = self.line(model.own.path)
        end = self.line((*model.own.path, "deprecation_date"))
        return {"version": first, "team": first, "status": end}

    def _text(self, model: ModelVersion) -> str:
        """The model's entry in the file, to compare two versions of it."""
        return repr((model.own.value, model.config, [one.value for one in model.columns]))

    def _owners(self, model: ModelVersion) -> Iterator[str]:
        """The owners in `meta.owner` or `config.meta.owner`, then that of the group."""
        metas = (model.own.value.get("meta"), model.model.get("meta"), model.config.get("meta"))
        listed = next((one["owner"] for one in metas if isinstance(one, dict) and one.get("owner")), ())
        yield from (one for one in (listed if isinstance(listed, list) else [listed]) if isinstance(one, str) and one)
        group = model.stated("group")
        if isinstance(group, str) and group:
            yield self.groups.get(group, group)

    def _table(self, model: ModelVersion) -> ContractTable:
        of_table = tuple(_of_columns(model.constraints))
        columns = tuple(self._column(one, of_table) for one in model.columns)
        rules = (rule for one in model.constraints for rule in self._rules(one))
        return ContractTable(name=model.name, columns=columns, rules=tuple(rules), line=self.line(model.own.path))

    def _column(self, column: Located, of_table: tuple[tuple[str, str], ...]) -> ContractColumn:
        one, name = column.value, column.value["name"]
        constraints = located(one, column.path, "constraints")
        kinds = {constraint.value["type"] for constraint in constraints}
        kinds |= {kind for kind, of in of_table if of.casefold() == name.casefold()}
        return ContractColumn(
            name=name,
            physical_type=one["data_type"].strip(),
            required=bool(kinds & {"not_null", "primary_key"}),
            unique="unique" in kinds,
            primary_key="primary_key" in kinds,
            rules=tuple(rule for constraint in constraints for rule in self._rules(constraint)),
            description=str(one.get("description") or ""),
            line=self.line(column.path),
        )

    def _rules(self, constraint: Located) -> Iterator[Rule]:
        """The constraints that no property of a single column is: an expression, a key of several columns."""
        one, kind = constraint.value, constraint.value["type"]
        columns = [str(name) for name in one.get("columns") or ()]
        demand = one.get("expression") or ", ".join(
            map(str, (one.get("to"), one.get("to_columns")) if "to" in one else ())
        )
        if kind in ("check", "custom", "foreign_key") or len(columns) > 1:
            text = " ".join(part for part in (", ".join(columns), str(demand or "")) if part)
            yield Rule(
                key=str(one.get("name") or f"{kind} {text}"), operators={kind: text}, line=self.line(constraint.path)
            )


def _of_columns(constraints: tuple[Located, ...]) -> Iterator[tuple[str, str]]:
    """The constraints of a table that are about single columns: kind and column."""
    for one in constraints:
        columns = one.value.get("columns") or ()
        if len(columns) == 1 or one.value["type"] == "not_null":
            yield from ((one.value["type"], str(name)) for name in columns)
