"""Comparing two versions of a contract. Tables and columns are matched by their names in the data, in any order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from whence.govern.contracts.changes import ContractChange, Kind
from whence.govern.contracts.contract import Contract, ContractColumn, ContractTable, Rule, ServiceLevel
from whence.govern.contracts.thresholds import Shift, compare_levels, compare_options, compare_rules
from whence.model.names import DatasetName

_ENDED = {"deprecated": Kind.DEPRECATED, "retired": Kind.RETIRED}


def compare_contracts(old: Contract, new: Contract) -> tuple[ContractChange, ...]:
    """Every change from one version of a contract to another."""
    found = [*_contract_changes(old, new), *_service_changes(old, new)]
    before, after = _tables(old), _tables(new)
    for name, table in before.items():
        if name not in after:
            found.append(_of_table(Kind.TABLE_REMOVED, name, table, old.place(table.line)))
    for name, table in after.items():
        if name not in before:
            found.append(_of_table(Kind.TABLE_ADDED, name, table, new.place(table.line)))
        else:
            found += (
                replace(one, table=name, datasets=_datasets(before[name], table))
                for one in _table_changes(before[name], table, old.file, new.file)
            )
    if not found and old.text != new.text:
        found.append(ContractChange(kind=Kind.DOCUMENTED, place=new.place(1)))
    return tuple(found)


def _tables(contract: Contract) -> Mapping[str, ContractTable]:
    return {one.physical_name or one.name: one for one in contract.tables}


def _datasets(old: ContractTable, new: ContractTable) -> Any:
    return tuple(dict.fromkeys((*new.datasets, *old.datasets)))


def _of_table(kind: Kind, name: str, table: ContractTable, place: str) -> ContractChange:
    return ContractChange(kind=kind, table=name, datasets=table.datasets, place=place)


def _contract_changes(old: Contract, new: Contract) -> Iterator[ContractChange]:
    if old.status != new.status and new.status in _ENDED:
        place = new.place(new.lines.get("status", 1))
        yield ContractChange(kind=_ENDED[new.status], before=old.status, after=new.status, place=place)
    elif old.status != new.status and old.status in _ENDED:
        place = new.place(new.lines.get("status", 1))
        yield ContractChange(kind=Kind.REVIVED, before=old.status, after=new.status, place=place)
    is_unowned = not new.owners and (old.owners or not new.is_of_dbt)
    if is_unowned or set(old.owners) - set(new.owners):
        kind = Kind.OWNER_CHANGED if new.owners else Kind.OWNER_LEFT
        place = new.place(new.lines.get("team", 1))
        yield ContractChange(kind=kind, before=", ".join(old.owners), after=", ".join(new.owners), place=place)


def _service_changes(old: Contract, new: Contract) -> Iterator[ContractChange]:
    before, after = _levels(old), _levels(new)
    for key in dict.fromkeys((*before, *after)):
        shift = compare_levels(before.get(key), after.get(key))
        if shift is not Shift.SAME:
            place = new.place(after[key].line) if key in after else old.place(before[key].line)
            yield ContractChange(
                kind=Kind.SERVICE_LOOSENED if shift is Shift.LOOSER else Kind.SERVICE_TIGHTENED,
                table=" ".join(part for part in key if part),
                datasets=_datasets_of_element(key[1], old, new),
                before=_level_text(before.get(key)),
                after=_level_text(after.get(key)),
                place=place,
                promises=(before.get(key), after.get(key)),
            )


def _datasets_of_element(element: str, old: Contract, new: Contract) -> tuple[DatasetName, ...]:
    """Those of the tables that are named in the element of a service level; none: all of the contract."""
    names = {part.strip().partition(".")[0] for part in element.split(",") if part.strip()}
    named = (one for contract in (new, old) for one in contract.tables if names & {one.name, one.physical_name})
    return tuple(dict.fromkeys(dataset for one in named for dataset in one.datasets))


def _levels(contract: Contract) -> Mapping[tuple[str, ...], ServiceLevel]:
    return {(one.property, one.element, one.driver): one for one in contract.service_levels}


def _level_text(level: ServiceLevel | None) -> str:
    return "" if level is None else f"{level.value} {level.unit}".strip()


def _table_changes(old: ContractTable, new: ContractTable, old_file: str, file: str) -> Iterator[ContractChange]:
    yield from _rule_changes(old.rules, new.rules, old_file, file)
    before, after = ({one.column: one for one in table.columns} for table in (old, new))
    removed = {name: one for name, one in before.items() if name not in after and not _is_below(name, before, after)}
    added = {name: one for name, one in after.items() if name not in before and not _is_below(name, after, before)}
    renamed = dict(_renamed(removed, added))
    for name, one in removed.items():
        kind = Kind.RENAMED if name in renamed else Kind.REMOVED
        after_name = renamed.get(name, "")
        place = f"{file}:{added[after_name].line}" if after_name else f"{old_file}:{one.line}"
        yield ContractChange(kind=kind, column=name, before=name, after=after_name, place=place)
    for name, one in added.items():
        if name not in renamed.values():
            yield ContractChange(kind=Kind.ADDED, column=name, place=f"{file}:{one.line}")
    for name in before:
        if name in after:
            yield from (replace(one, column=name) for one in _column_changes(before[name], after[name], old_file, file))


def _is_below(name: str, own: Mapping[str, ContractColumn], other: Mapping[str, ContractColumn]) -> bool:
    """Whether a column is inside of one that comes or goes with it."""
    outer, dot, _ = name.rpartition(".")
    return bool(dot) and outer in own and outer not in other


def _renamed(removed: Mapping[str, ContractColumn], added: Mapping[str, ContractColumn]) -> Iterator[tuple[str, str]]:
    """Columns that are gone, and the one new column of the same promises at the same level."""
    for name, one in removed.items():
        like = [other for other, two in added.items() if _promises(two) == _promises(one)]
        rivals = [other for other, two in removed.items() if _promises(two) == _promises(one)]
        if len(like) == 1 and len(rivals) == 1 and like[0].rpartition(".")[0] == name.rpartition(".")[0]:
            yield name, like[0]


def _promises(one: ContractColumn) -> tuple[object, ...]:
    options = tuple(sorted((key, str(value)) for key, value in one.options.items()))
    types = (one.logical_type, one.physical_type.casefold(), options)
    return (*types, one.required, one.unique, one.primary_key, one.values)


def _column_changes(old: ContractColumn, new: ContractColumn, old_file: str, file: str) -> Iterator[ContractChange]:
    place = f"{file}:{new.line}"
    for kind, before, after in (*_type_changes(old, new), *_promise_changes(old, new), *_value_changes(old, new)):
        yield ContractChange(kind=kind, before=before, after=after, place=place)
    yield from _rule_changes(old.rules, new.rules, old_file, file)
    if (old.description, old.deprecated, old.name) != (new.description, new.deprecated, new.name):
        yield ContractChange(kind=Kind.DOCUMENTED, place=place)


def _type_changes(old: ContractColumn, new: ContractColumn) -> Iterator[tuple[Kind, str, str]]:
    if old.logical_type != new.logical_type:
        yield Kind.TYPE, old.logical_type or "any type", new.logical_type or "any type"
        return
    if old.physical_type.casefold() != new.physical_type.casefold():
        kind = Kind.PHYSICAL_TYPE if new.logical_type else Kind.TYPE
        yield kind, old.physical_type or "any type", new.physical_type or "any type"
    shifts = compare_options(old.options, new.options)
    for shift, kind in ((Shift.LOOSER, Kind.OPTIONS_LOOSENED), (Shift.TIGHTER, Kind.OPTIONS_TIGHTENED)):
        if shift in shifts:
            yield kind, _options_text(old.options), _options_text(new.options)


def _options_text(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(options.items()))


def _promise_changes(old: ContractColumn, new: ContractColumn) -> Iterator[tuple[Kind, str, str]]:
    if old.required != new.required:
        yield Kind.REQUIRED if new.required else Kind.OPTIONAL, "", ""
    before, after = old.unique or old.primary_key, new.unique or new.primary_key
    if before != after:
        yield Kind.UNIQUE if after else Kind.NOT_UNIQUE, "", ""


def _value_changes(old: ContractColumn, new: ContractColumn) -> Iterator[tuple[Kind, str, str]]:
    if old.values == new.values:
        return
    if old.values is not None and (new.values is None or new.values - old.values):
        yield Kind.VALUES_ADDED, "", _values_text(new.values and new.values - old.values)
    if new.values is not None and (old.values is None or old.values - new.values):
        yield Kind.VALUES_REMOVED, _values_text(old.values and old.values - new.values), ""


def _values_text(values: frozenset[str] | None) -> str:
    return "any value" if values is None else ", ".join(sorted(values))


def _rule_changes(old: Sequence[Rule], new: Sequence[Rule], old_file: str, file: str) -> Iterator[ContractChange]:
    before, after = ({one.key: one for one in rules if one.operators} for rules in (old, new))
    for key in dict.fromkeys((*before, *after)):
        shift = Shift.LOOSER if key not in after else Shift.TIGHTER
        if key in before and key in after:
            shift = compare_rules(_without_values(before[key]), _without_values(after[key]))
        if shift is not Shift.SAME:
            kind = Kind.RULE_LOOSENED if shift is Shift.LOOSER else Kind.RULE_TIGHTENED
            place = f"{file}:{after[key].line}" if key in after else f"{old_file}:{before[key].line}"
            texts = (_rule_text(before.get(key)), _rule_text(after.get(key)))
            promises = before.get(key), after.get(key)
            yield ContractChange(kind=kind, before=texts[0], after=texts[1], place=place, promises=promises)


def _without_values(rule: Rule) -> Rule:
    """A rule without its list of valid values, which is compared as that of the column."""
    return replace(rule, arguments={key: one for key, one in rule.arguments.items() if key != "validValues"})


def _rule_text(rule: Rule | None) -> str:
    if rule is None:
        return ""
    operators = ", ".join(f"{key} {value}" for key, value in sorted(rule.operators.items()))
    return operators if operators == rule.key else f"{rule.key}: {operators} {rule.unit}".strip()
