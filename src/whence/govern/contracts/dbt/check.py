"""Whether the contracts in a YAML file of dbt can be enforced: every mistake, with its line."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from whence.govern.contracts.check import Problem
from whence.govern.contracts.dbt import keys
from whence.govern.contracts.dbt.models import ModelVersion, find_models, located
from whence.govern.yaml_values import Path, Values

_JINJA = ("{{", "{%")


def check_models(values: Values) -> tuple[Problem, ...]:
    """The mistakes in the contracts of a file. Only models whose contract is enforced are checked, and whether a
    contract that is not is one that is misspelt.
    """
    found = list[Problem]()
    for model in find_models(values):
        found += _setting_problems(values, model)
        if model.is_enforced:
            found += _model_problems(values, model)
    return tuple(sorted(set(found)))


def _setting_problems(values: Values, model: ModelVersion) -> Iterator[Problem]:
    """A contract that dbt would not see: misspelt, at the wrong place, or with a value that is not true or false."""
    for path, owner in _owners(model):
        if "contract" in owner:
            text = "no key 'contract' belongs here; write `config: {contract: {enforced: true}}`"
            yield _problem(values, (*path, "contract"), "unknown-key", text)
        config = owner.get("config")
        for key in config if isinstance(config, dict) else ():
            if key != "contract" and get_close_matches(key, ("contract",), 1, 0.8):
                text = f"no key {key!r} belongs here; did you mean 'contract'?"
                yield _problem(values, (*path, "config", key), "unknown-key", text)
        if isinstance(config, dict) and "contract" in config:
            yield from _contract_problems(values, (*path, "config", "contract"), config["contract"])


def _contract_problems(values: Values, path: Path, contract: Any) -> Iterator[Problem]:
    if not isinstance(contract, dict):
        yield _problem(values, path, "type", "write `enforced: true` or `enforced: false` below this key")
        return
    yield from _unknown_keys(values, path, contract, keys.CONTRACT)
    enforced = contract.get("enforced")
    if enforced is not None and not isinstance(enforced, bool):
        is_jinja = any(mark in str(enforced) for mark in _JINJA)
        more = ": Whence reads it without running dbt" if is_jinja else ""
        yield _problem(values, (*path, "enforced"), "type", f"write true or false here, not {enforced!r}{more}")


def _owners(model: ModelVersion) -> Iterator[tuple[Path, Any]]:
    yield model.own.path, model.own.value
    if model.own.value is not model.model:
        yield model.own.path[:2], model.model


def _model_problems(values: Values, model: ModelVersion) -> Iterator[Problem]:
    is_version = model.own.value is not model.model
    for path, owner in _owners(model):
        known = keys.VERSION if is_version and path == model.own.path else keys.MODEL
        yield from _unknown_keys(values, path, owner, known | {"contract"})
    if not model.columns:
        text = f"the contract of {model.name} is enforced, and states no columns"
        yield _problem(values, model.own.path, "required", text)
    seen = set[str]()
    for column in model.columns:
        yield from _column_problems(values, model, column.path, column.value, seen)
    for one in model.constraints:
        yield from _constraint_problems(values, one.path, one.value)


def _column_problems(values: Values, model: ModelVersion, path: Path, column: Any, seen: set[str]) -> Iterator[Problem]:
    yield from _unknown_keys(values, path, column, keys.COLUMN)
    name = column.get("name")
    if not isinstance(name, str) or not name:
        yield _problem(values, path, "required", "'name' is missing")
    elif name.casefold() in seen:
        yield _problem(values, path, "uniqueItems", f"the column {name!r} is here twice")
    else:
        seen.add(name.casefold())
    if not isinstance(column.get("data_type"), str) or not column["data_type"].strip():
        text = f"'data_type' is missing: the contract of {model.name} is enforced"
        yield _problem(values, path, "required", text)
    for one in located(column, path, "constraints"):
        yield from _constraint_problems(values, one.path, one.value)


def _constraint_problems(values: Values, path: Path, constraint: Any) -> Iterator[Problem]:
    yield from _unknown_keys(values, path, constraint, keys.CONSTRAINT)
    kind = constraint.get("type")
    if kind not in keys.CONSTRAINT_TYPES:
        hint = _hint(str(kind), keys.CONSTRAINT_TYPES) if kind is not None else ""
        what = "'type' is missing" if kind is None else f"write one of {', '.join(keys.CONSTRAINT_TYPES)}, not {kind!r}"
        yield _problem(values, path if kind is None else (*path, "type"), "enum", f"{what}{hint}")
    elif kind in ("check", "custom") and not constraint.get("expression"):
        yield _problem(values, path, "required", f"'expression' is missing: what does the {kind} demand?")


def _unknown_keys(values: Values, path: Path, owner: Any, known: frozenset[str]) -> Iterator[Problem]:
    for key in owner:
        if key not in known:
            text = f"no key {key!r} belongs here{_hint(key, tuple(known)) or '; put your own keys into meta'}"
            yield _problem(values, (*path, key), "unknown-key", text)


def _hint(key: str, known: tuple[str, ...]) -> str:
    close = get_close_matches(key, sorted(known), 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _problem(values: Values, path: Path, rule: str, text: str) -> Problem:
    return Problem(values.file, int(values.place(path).rpartition(":")[2]), rule, text)
