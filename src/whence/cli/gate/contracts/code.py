"""The contracts that a head changes, reviewed; and which columns the contracts of changed datasets promise."""

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace

from whence.cli.answers.ask import Questions
from whence.cli.gate.contracts.dbt_project import PROJECT, package_in
from whence.cli.gate.contracts.files import is_contract_name, is_dbt_name
from whence.cli.gate.contracts.review import Naming, review_models, review_versions
from whence.cli.gate.heads import Change
from whence.errors import NodeNotFoundError
from whence.govern.contracts.check import Checked
from whence.govern.contracts.contract import Contract
from whence.govern.contracts.files import check_dbt, read_file
from whence.govern.contracts.read import read_contract
from whence.govern.contracts.review import Class
from whence.govern.gate.contract_changes import (
    ContractCase,
    case_of_mistakes,
    case_of_new,
    case_of_removed,
    case_of_review,
)
from whence.govern.gate.impact import Assessment
from whence.model.names import DatasetName, Node


def review_contracts(change: Change, naming: Naming, questions: Questions, days: int) -> tuple[ContractCase, ...]:
    """A case for each contract that differs between merge base and head. Raises what `questions` raises."""
    return (*_file_cases(change, naming, questions, days), *_model_cases(change, questions, days))


def _file_cases(change: Change, naming: Naming, questions: Questions, days: int) -> Iterator[ContractCase]:
    """A case for each contract of the standard. A contract is its id, in whichever file it is before and after."""
    files = [file for file in change.files if is_contract_name(file)]
    before = [old for file in files if (old := _read(change, change.merge_base, file, naming)[0]) is not None]
    read = [_read(change, change.head.commit, file, naming) for file in files]
    mistakes = [checked for _, checked in read if checked is not None and checked.problems]
    after = [new for new, checked in read if new is not None and checked not in mistakes]
    yield from map(case_of_mistakes, mistakes)
    for new in after:
        same = [one for one in before if one.id == new.id]
        old = next((one for one in same if one.file == new.file), next(iter(same), None))
        yield case_of_new(new) if old is None else _reviewed(old, new, change, questions, days)
    kept = {*(one.id for one in after), *(one.file for one in mistakes)}
    yield from (case_of_removed(old) for old in before if not {old.id, old.file} & kept)


def _reviewed(old: Contract, new: Contract, change: Change, questions: Questions, days: int) -> ContractCase:
    path = posixpath.join(posixpath.dirname(new.file), new.migration_note or "MIGRATION.md")
    note = change.repository.file_at(change.head.commit, posixpath.normpath(path))
    return case_of_review(review_versions(old, new, questions, days, note=note))


def _read(change: Change, commit: str, file: str, naming: Naming) -> tuple[Contract | None, Checked | None]:
    text = change.repository.file_at(commit, file)
    if text is None:
        return None, None
    return read_contract(text, file, namespace=naming.namespace, environment=naming.environment)


def _model_cases(change: Change, questions: Questions, days: int) -> Iterator[ContractCase]:
    """A case for each contract of a dbt model that differs, in whichever files its model is described before and
    after.
    """
    files = [file for file in change.files if is_dbt_name(file)]
    before, _ = _models(change, change.merge_base, files)
    after, mistakes = _models(change, change.head.commit, files)
    yield from map(case_of_mistakes, mistakes)
    broken = {one.file for one in mistakes}
    before = [one for one in before if one.file not in broken]
    reviews = review_models(before, after, questions, days)
    yield from (case_of_review(one) for one in reviews if any(it.class_ is not Class.METADATA for it in one.changes))
    known = {one.id for one in before}
    yield from (case_of_new(one) for one in after if one.id not in known and one.file not in broken)


def _models(change: Change, commit: str, files: Sequence[str]) -> tuple[list[Contract], list[Checked]]:
    """The contracts of dbt's models in these files, and the files with mistakes."""
    contracts, mistakes = list[Contract](), list[Checked]()
    for file in files:
        text = change.repository.file_at(commit, file)
        checked = None if text is None else check_dbt(text, file)
        if text is not None and checked is not None:
            mistakes += [checked] if checked.problems else []
            contracts += read_file(text, file, package=_package(change, commit, file))[0]
    return contracts, mistakes


def _package(change: Change, commit: str, file: str) -> str:
    """The name of the dbt project around a file."""
    folder = posixpath.dirname(file)
    while True:
        text = change.repository.file_at(commit, posixpath.join(folder, PROJECT))
        if text is not None or not folder:
            return package_in(text or "")
        folder = posixpath.dirname(folder)


def with_promised_columns(assessment: Assessment, questions: Questions) -> Assessment:
    """With the columns that the contracts of changed datasets promise, as far as their texts are known."""
    changed = dict.fromkeys(one.change.dataset for one in assessment.changes)
    contracted = [one for one in changed if assessment.facts_of(one).contract]
    facts = dict(assessment.facts)
    for dataset in contracted:
        columns = promised_columns(dataset, questions)
        facts[dataset] = replace(assessment.facts_of(dataset), promised=columns)
    return replace(assessment, facts=facts) if contracted else assessment


def promised_columns(dataset: DatasetName, questions: Questions) -> frozenset[str] | None:
    """The columns that the contract of a dataset promises, in lower case; None if its text is not known."""
    try:
        held = questions.contract(str(dataset)).contract
    except NodeNotFoundError:
        return None
    contract, _ = read_contract(held.text, "") if held is not None and held.text else (None, None)
    tables = (
        [one for one in contract.tables if held and held.table in (one.physical_name, one.name)] if contract else []
    )
    return frozenset(one.column.casefold() for table in tables for one in table.columns) if tables else None


def announced_datasets(cases: Sequence[ContractCase]) -> frozenset[Node]:
    """The datasets whose contracts this head breaks as it should."""
    return frozenset(dataset for one in cases for dataset in one.announced)
