"""Files with contracts, in either form: one of the Open Data Contract Standard, or those that dbt enforces."""

import re

from whence.errors import RulesFileError
from whence.govern.contracts.check import Checked, check_contract, problem_of
from whence.govern.contracts.contract import Contract
from whence.govern.contracts.dbt.check import check_models
from whence.govern.contracts.dbt.models import find_models, is_dbt_file
from whence.govern.contracts.dbt.read import read_models
from whence.govern.contracts.read import read_contract
from whence.govern.yaml_nodes import parse
from whence.govern.yaml_values import Values, read_values

_MODELS = re.compile(r"^[\"']?models[\"']?\s*:", re.MULTILINE)
"""What every file of dbt with models contains."""


def check_file(text: str, file: str) -> Checked:
    """Check the contracts in a file. A file of dbt has one for each model whose contract is enforced."""
    values = _readable_dbt(text, file)
    return check_contract(text, file) if values is None else _check_dbt(values)


def read_file(
    text: str, file: str, *, namespace: str = "", environment: str = "", package: str = ""
) -> tuple[tuple[Contract, ...], Checked]:
    """The contracts in a file, none if it has mistakes; and what is known of the file. `package`: of a dbt project."""
    values = _readable_dbt(text, file)
    if values is not None:
        checked = _check_dbt(values)
        return (() if checked.problems else read_models(values, package)), checked
    contract, checked = read_contract(text, file, namespace=namespace, environment=environment)
    return (() if contract is None else (contract,)), checked


def check_dbt(text: str, file: str) -> Checked | None:
    """Check the contracts in a file, if it is one of dbt with a contract; else None."""
    if not _MODELS.search(text):
        return None
    try:
        values = _dbt_values(text, file)
    except RulesFileError as error:
        return Checked(file, (problem_of(error, file),)) if "contract" in text else None
    checked = None if values is None else _check_dbt(values)
    return checked if checked and checked.count else None


def _check_dbt(values: Values) -> Checked:
    problems = check_models(values)
    count = sum(one.is_enforced for one in find_models(values))
    return Checked(values.file, problems, values, count=max(count, bool(problems)))


def _dbt_values(text: str, file: str) -> Values | None:
    """The values of a file of dbt; None if it is none. Raises RulesFileError."""
    if not _MODELS.search(text):
        return None
    root = parse(text, file)
    values = None if root is None else read_values(root)
    return values if values is not None and is_dbt_file(values.root) else None


def _readable_dbt(text: str, file: str) -> Values | None:
    try:
        return _dbt_values(text, file)
    except RulesFileError:
        return None  # the other reader reports the mistake
