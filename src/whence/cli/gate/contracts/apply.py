"""`whence contract apply`: the events that record a contract, after a review against the version that holds."""

import getpass
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from whence.cli.declarations import send_declarations
from whence.cli.gate.contracts.review import Naming, load_contract, read_note, review_versions
from whence.cli.gate.forms import exit_of
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.client.questions import Client, connect
from whence.client.values.contracts import ContractText
from whence.errors import ArtifactError, NodeNotFoundError, RulesFileError
from whence.govern.contracts.contract import DBT, Contract, ContractTable
from whence.govern.contracts.events import apply_event
from whence.govern.contracts.read import read_contract
from whence.govern.contracts.review import Review
from whence.govern.contracts.review_reports import review_document, review_lines
from whence.govern.contracts.versions import step_between
from whence.govern.gate.policy import Verdict
from whence.model.names import DatasetName
from whence.openlineage.authority.restrictions import person_uri


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """How a contract is to be applied. `approved_by`: the owners who have approved a breaking change."""

    url: str
    naming: Naming
    approved_by: tuple[str, ...] = ()
    days: int = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A dataset of a contract: whether an event was sent for it, or it had this version already."""

    dataset: DatasetName
    sent: bool


def show_applied(file: Path, how: Application, output: Output) -> Exit:
    """Apply a contract, and print what was done. Raises RulesFileError, ArtifactError, ApiError, AccessError."""
    contract = load_contract(file, how.naming)
    targets = list(contract.datasets())
    if not targets:
        missing = "state its servers, or give --namespace" if contract.tables else "its schema has no table"
        raise ArtifactError(str(file), f"it names no dataset; {missing}")
    with connect(how.url) as questions:
        sender = questions.whoami()
        held = {dataset: _held(questions, dataset) for _, dataset in targets}
        review = _review(contract, list(held.values()), questions, how)
    if review is not None and _is_stopped(review, how.approved_by):
        _print(contract, review, (), output)
        return exit_of(review.verdict)
    new = [(table, dataset) for table, dataset in targets if not _is_same(held[dataset], contract)]
    _send(contract, new, how, person_uri(sender.name if sender else getpass.getuser()))
    sent = {dataset for _, dataset in new}
    _print(contract, review, [Applied(dataset=one, sent=one in sent) for one in held], output)
    return Exit.OK


def _held(questions: Client, dataset: DatasetName) -> ContractText | None:
    try:
        return questions.contract(str(dataset)).contract
    except NodeNotFoundError:
        return None


def _review(
    contract: Contract, held: Sequence[ContractText | None], questions: Client, how: Application
) -> Review | None:
    """The review against the version that holds; None for a contract that is new. Raises RulesFileError."""
    others = sorted({one.id for one in held if one is not None and one.id != contract.id and _is_stated(one)})
    if others:
        raise ArtifactError(contract.file, f"its datasets have another contract already: {', '.join(others)}")
    texts = {one.version: one.text for one in held if one is not None and one.text}
    newest = max(texts, key=lambda version: _order(version, texts), default=None)
    if newest is None:
        return None
    old, _ = read_contract(
        texts[newest] or "", newest, namespace=how.naming.namespace, environment=how.naming.environment
    )
    if old is None:
        return None
    if old.version == contract.version and old.text != contract.text:
        raise RulesFileError(
            contract.place(contract.lines.get("version", 1)), f"version {old.version} is applied with another text"
        )
    return review_versions(old, contract, questions, how.days, note=read_note(contract))


def _is_stated(held: ContractText) -> bool:
    """Whether a contract was applied; one of dbt gives way to it."""
    return bool(held.id) and held.standard != DBT


def _order(version: str, others: Iterable[str]) -> int:
    return sum(step_between(other, version) is not None for other in others)


def _is_stopped(review: Review, approved_by: Sequence[str]) -> bool:
    if review.verdict is not Verdict.APPROVAL_NEEDED:
        return review.verdict > Verdict.NOTE
    needing = (one for one in review.changes if one.verdict is Verdict.APPROVAL_NEEDED)
    return not all(set(one.approvers) & set(approved_by) for one in needing)


def _is_same(held: ContractText | None, contract: Contract) -> bool:
    return held is not None and (held.id, held.version, held.text) == (contract.id, contract.version, contract.text)


def _send(
    contract: Contract, targets: Sequence[tuple[ContractTable, DatasetName]], how: Application, producer: str
) -> None:
    """Send one event a dataset. Raises ApiError. `producer`: who the key belongs to, for a server takes assertions of a
    person from nobody else.
    """
    at = time.time_ns() // 1_000
    made = (
        (str(dataset), apply_event(contract, table, dataset, at=at, producer=producer, approved_by=how.approved_by))
        for table, dataset in targets
    )
    send_declarations(how.url, made)


def _print(contract: Contract, review: Review | None, applied: Sequence[Applied], output: Output) -> None:
    if output is Output.JSON:
        print_document(
            {
                "contract": contract.id,
                "version": contract.version,
                "review": None if review is None else review_document(review),
                "applied": [{"dataset": str(one.dataset), "sent": one.sent} for one in applied],
            }
        )
        return
    print_lines(Text(safe(line)) for line in _lines(contract, review, applied))


def _lines(contract: Contract, review: Review | None, applied: Sequence[Applied]) -> Iterator[str]:
    if review is not None and review.changes:
        yield from review_lines(review)
    for one in applied:
        done = "applied" if one.sent else "unchanged"
        yield f"{done}: {contract.id} {contract.version} for {one.dataset}"
