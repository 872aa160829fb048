"""Reading a checked contract of the Open Data Contract Standard: the differences between its versions end here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from whence.govern.contracts.check import Checked, check_contract
from whence.govern.contracts.contract import Contract, ContractColumn, ContractTable, Rule, ServiceLevel
from whence.govern.contracts.servers import name_datasets
from whence.govern.yaml_values import Path, Values
from whence.query.lookup.contracts import ENDS

MIGRATION_NOTE = "migrationNote"
"""The custom property of a contract with the path of its migration note."""
_OPERATORS = "mustBe"


def read_contract(
    text: str, file: str, *, namespace: str = "", environment: str = ""
) -> tuple[Contract | None, Checked]:
    """The contract in a file, or None if it has mistakes; and what is known of the file.

    `namespace`: of the datasets of a contract without servers. `environment`: only servers of this one; empty: all.
    """
    checked = check_contract(text, file)
    if checked.problems or checked.values is None:
        return None, checked
    reading = _Reading(checked.values, namespace, environment)
    return reading.contract(text, checked.standard.version if checked.standard else ""), checked


@dataclass(frozen=True, slots=True)
class _Reading:
    values: Values
    namespace: str
    environment: str

    @property
    def root(self) -> Mapping[str, Any]:
        root: Mapping[str, Any] = self.values.root
        return root

    def contract(self, text: str, standard: str) -> Contract:
        levels = tuple(self._levels())
        ends = {one.property: str(one.value) for one in levels if one.property in ENDS}
        return Contract(
            id=self.root["id"],
            version=self.root["version"],
            status=self.root.get("status", "").strip().casefold(),
            standard=standard,
            name=self.root.get("name", ""),
            domain=self.root.get("domain", ""),
            owners=tuple(self._owners()),
            tables=tuple(self._table(index, one) for index, one in enumerate(self.root.get("schema") or ())),
            service_levels=levels,
            ends=next((ends[one] for one in ENDS if one in ends), ""),
            migration_note=str(_custom(self.root).get(MIGRATION_NOTE) or ""),
            file=self.values.file,
            text=text,
            lines={key: self.line((key,)) for key in self.root},
        )

    def line(self, path: Path) -> int:
        return int(self.values.place(path).rpartition(":")[2])

    def _owners(self) -> Iterator[str]:
        """The members with the role of an owner; else the team's name; else all members. Who has left owns nothing."""
        team = self.root.get("team") or {}
        people = team.get("members") or () if isinstance(team, dict) else team
        current = [one for one in people if not one.get("dateOut")]
        owners = [one["username"] for one in current if "owner" in str(one.get("role", "")).casefold()]
        name = team.get("name", "") if isinstance(team, dict) else ""
        yield from dict.fromkeys(owners or ([name] if name else [one["username"] for one in current]))

    def _table(self, index: int, one: Mapping[str, Any]) -> ContractTable:
        path: Path = ("schema", index)
        return ContractTable(
            name=one["name"],
            physical_name=one.get("physicalName", ""),
            columns=tuple(self._columns(one.get("properties") or (), (*path, "properties"), "", "")),
            rules=tuple(self._rules(one, path)),
            deprecated=one.get("deprecated") is True,
            description=one.get("description", ""),
            datasets=name_datasets(one, self.root.get("servers") or (), _custom(one), self.namespace, self.environment),
            line=self.line(path),
        )

    def _columns(self, listed: Any, path: Path, name: str, physical: str) -> Iterator[ContractColumn]:
        """The columns, each before those inside of it."""
        for index, one in enumerate(listed):
            yield from self._column(one, (*path, index), f"{name}{one['name']}", physical)

    def _column(self, one: Mapping[str, Any], path: Path, name: str, outer: str) -> Iterator[ContractColumn]:
        physical = f"{outer}{one.get('physicalName') or name.rpartition('.')[2]}"
        values = one.get("enum")
        yield ContractColumn(
            name=name,
            physical_name=physical,
            logical_type=one.get("logicalType", ""),
            physical_type=one.get("physicalType", ""),
            options=one.get("logicalTypeOptions") or {},
            required=one.get("required") is True,
            unique=one.get("unique") is True,
            primary_key=one.get("primaryKey") is True,
            values=frozenset(str(value["value"]) for value in values) if values else _valid_values(one),
            deprecated=one.get("deprecated") is True,
            rules=tuple(self._rules(one, path)),
            description=one.get("description", ""),
            line=self.line(path),
        )
        yield from self._columns(one.get("properties") or (), (*path, "properties"), f"{name}.", f"{physical}.")
        items = one.get("items") or {}
        inner = (*path, "items", "properties")
        yield from self._columns(items.get("properties") or (), inner, f"{name}.", f"{physical}.")

    def _rules(self, one: Mapping[str, Any], path: Path) -> Iterator[Rule]:
        for index, rule in enumerate(one.get("quality") or ()):
            metric = rule.get("metric") or rule.get("rule") or ""
            yield Rule(
                key=rule.get("id") or rule.get("name") or metric or rule.get("description") or f"{index}",
                metric=metric,
                operators={key: value for key, value in rule.items() if key.startswith(_OPERATORS)},
                arguments=_arguments(rule),
                unit=rule.get("unit", ""),
                severity=rule.get("severity", ""),
                line=self.line((*path, "quality", index)),
            )

    def _levels(self) -> Iterator[ServiceLevel]:
        for index, one in enumerate(self.root.get("slaProperties") or ()):
            yield ServiceLevel(
                property=one["property"],
                value=one["value"],
                unit=one.get("unit", ""),
                element=one.get("element") or self.root.get("slaDefaultElement") or "",
                driver=one.get("driver", ""),
                line=self.line(("slaProperties", index)),
            )


def _arguments(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a rule: in 3.0 the valid values are beside it, later inside of `arguments`."""
    listed = rule.get("validValues")
    return {**(rule.get("arguments") or {}), **({"validValues": listed} if listed else {})}


def _valid_values(one: Mapping[str, Any]) -> frozenset[str] | None:
    """All values of a column, as a quality rule lists them."""
    for rule in one.get("quality") or ():
        listed = _arguments(rule).get("validValues")
        if isinstance(listed, list):
            return frozenset(map(str, listed))
    return None


def _custom(one: Mapping[str, Any]) -> Mapping[str, Any]:
    listed = one.get("customProperties")
    entries = listed if isinstance(listed, list) else ()
    return {entry["property"]: entry["value"] for entry in entries if "property" in entry and "value" in entry}
