"""What the contracts of datasets upstream lack now, for a promotion."""

from collections.abc import Iterator, Sequence

from whence.cli.answers.ask import Questions
from whence.client.values.contracts import ContractHistory
from whence.errors import NodeNotFoundError
from whence.govern.gate.impact import is_hidden
from whence.govern.gate.promotion import OpenViolation
from whence.model.names import DatasetName

VIOLATED = "violated"


def find_contract_violations(questions: Questions, datasets: Sequence[DatasetName]) -> Iterator[OpenViolation]:
    """The violations of the contracts that hold for these datasets. What is not evaluated is none."""
    shown = [str(one) for one in dict.fromkeys(datasets) if not is_hidden(one)]
    names = {str(one): one for one in datasets}
    contracted = dict.fromkeys(one.node for one in questions.facts(shown) if one.contract_version)
    seen = set[str]()
    for node in contracted:
        try:
            found = questions.contract(node)
        except NodeNotFoundError:
            continue
        if node in names and found.node not in seen:
            seen.add(found.node)
            yield from _violations(found, names[node])


def _violations(found: ContractHistory, dataset: DatasetName) -> Iterator[OpenViolation]:
    if found.contract is None or found.evaluation is None:
        return
    contract = f"{found.contract.id} {found.contract.version}".strip()
    for one in found.evaluation.violations:
        what = f"reported as {one.observed}" if one.observed else "not reported"
        text = f"{one.expected} is promised, {what}"
        yield OpenViolation(dataset=dataset, column=one.column, assertion=text, contract=contract)
    for rule in found.evaluation.rules:
        if rule.outcome == VIOLATED:
            text = f"{rule.rule}: {rule.expected or ''}, {rule.observed or ''}"
            yield OpenViolation(dataset=dataset, column=rule.column, assertion=text, contract=contract)
