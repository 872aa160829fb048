"""`whence gate --tests`: the tests that are enough for a head, as `dbt test --select`, as a list, and as JSON."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from whence.capture.dbt.artifacts.project import Project, Test
from whence.capture.dbt.compiled.tested_columns import tested_columns
from whence.cli.answers.ask import Questions
from whence.cli.gate.dbt_code import DbtTargets, production_names, read_target
from whence.cli.gate.forms import Form
from whence.cli.gate.renames import renamed_node, renaming
from whence.cli.gate.verdict import Judged, Wanted
from whence.client.values.quality import CheckedDataset
from whence.errors import AccessError
from whence.govern.gate.impact import Assessment
from whence.govern.gate.relevant_tests import KnownTest, SelectedTest, TestSelection, affected_datasets, select_tests
from whence.govern.gate.rendering.names import name_of, printable
from whence.model.names import DatasetName, FieldName, parse_node

_HIDDEN_CHECKS = "the checks that production knows need a key that may read all namespaces"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantTests:
    """The tests of a dbt project, and the checks that production knows of affected datasets, which are enough."""

    dbt: TestSelection
    checks: TestSelection
    notices: tuple[str, ...] = ()

    @property
    def select(self) -> str:
        """The argument of `dbt test --select`; empty: no test is needed."""
        return " ".join(one.test.name for one in self.dbt.selected)


def relevant_tests(
    assessment: Assessment, tiers: frozenset[int], targets: DbtTargets | None, questions: Questions
) -> RelevantTests:
    """The tests that matter for changes. Raises ArtifactError, and what `questions` raises."""
    of_dbt = dbt_tests(targets, questions) if targets else ()
    notices: tuple[str, ...] = ()
    try:
        known = questions.checks([str(one) for one in affected_datasets(assessment)])
    except AccessError:
        known, notices = (), (_HIDDEN_CHECKS,)
    checks = _without_dbt(_checks(known), of_dbt)
    return RelevantTests(
        dbt=select_tests(assessment, of_dbt, tiers), checks=select_tests(assessment, checks, tiers), notices=notices
    )


def written_tests(judged: Judged, wanted: Wanted, questions: Questions, form: Form) -> str:
    """The tests that a judged head needs, as text or JSON, with a line end."""
    found = relevant_tests(judged.assessment, judged.rules.tiers, wanted.dbt, questions)
    return tests_document(found) if form is Form.JSON else "\n".join(text_lines(found)) + "\n"


def dbt_tests(targets: DbtTargets, questions: Questions) -> tuple[KnownTest, ...]:
    """The data tests of a project's head, by the names of production. One is changed if the base has no equal one."""
    base, head = (read_target(target, targets.namespace) for target in (targets.base, targets.head))
    rename = production_names((base, head), renaming(targets.renames, "--dbt-rename"), questions)
    reads = tested_columns(head.project, head.warehouse)
    before = base.project.tests
    return tuple(
        KnownTest(
            name=test.label,
            assertion=test.name,
            file=test.path,
            tables=tuple(map(rename, reads[unique_id].tables)),
            reads=tuple(renamed_node(one, rename) for one in reads[unique_id].columns),
            is_changed=unique_id not in before or _meaning(test) != _meaning(before[unique_id]),
        )
        for unique_id, test in _enabled(head.project)
        if unique_id in reads
    )


def _enabled(project: Project) -> Iterator[tuple[str, Test]]:
    return ((name, test) for name, test in project.tests.items() if test.config.get("enabled") is not False)


def _meaning(test: Test) -> tuple[Any, ...]:
    return test.name, test.column, test.sql, test.params, test.config, test.severity


def _checks(known: Sequence[CheckedDataset]) -> Iterator[KnownTest]:
    """What production's jobs check, named `job::dataset.column::assertion`."""
    for one in known:
        dataset = parse_node(one.dataset)
        if not isinstance(dataset, DatasetName):
            continue
        for check in one.checks:
            node = FieldName(dataset, check.column) if check.column else dataset
            name = f"{one.job.removeprefix('job:')}::{name_of(node)}::{check.assertion}"
            yield KnownTest(name=name, assertion=check.assertion, tables=(dataset,), reads=(node,))


def _without_dbt(checks: Iterable[KnownTest], tests: Sequence[KnownTest]) -> list[KnownTest]:
    """Checks that are no report of a test which the project has, and is selected there."""
    known = {(test.assertion, table) for test in tests for table in test.tables}
    return [one for one in checks if (one.assertion, one.tables[0]) not in known]


def text_lines(found: RelevantTests) -> Iterator[str]:
    """The tests for a terminal: how many are saved, the command, and one test a line with the reason."""
    for title, selection in (("dbt tests", found.dbt), ("checks of affected datasets", found.checks)):
        if selection.known:
            share = f"{selection.saved:.0%} saved"
            yield f"{len(selection.selected):,} of {selection.known:,} {title} are enough: {share}"
        if selection.incomplete:
            yield f"all {title} are needed: {selection.incomplete}"
    if found.dbt.known:
        yield f"dbt test --select {printable(found.select)}" if found.select else "no dbt test is needed"
    yield from (_line(one) for one in (*found.dbt.selected, *found.checks.selected))
    if not (found.dbt.known or found.checks.known):
        yield "no test is known of what changes"
    yield from (f"note: {one}" for one in found.notices)


def _line(one: SelectedTest) -> str:
    about = f" ({name_of(one.node)})" if one.node else ""
    return printable(f"{test_id(one)}  # {one.because}{about}")


def test_id(one: SelectedTest) -> str:
    """A test as pytest would list it: FILE::NAME; of a check that production knows, its name."""
    return f"{one.test.file}::{one.test.name}" if one.test.file else one.test.name


def tests_document(found: RelevantTests) -> str:
    """The tests as one JSON document. `dbt_select` is null if no test of dbt is needed."""
    document = {
        "dbt_select": found.select or None,
        "dbt": _selection(found.dbt),
        "checks": _selection(found.checks),
        "notices": list(found.notices),
    }
    return json.dumps(document, indent=2) + "\n"


def _selection(found: TestSelection) -> dict[str, Any]:
    return {
        "known": found.known,
        "selected": len(found.selected),
        "saved": round(found.saved, 4),
        "incomplete": found.incomplete or None,
        "tests": [
            {"id": test_id(one), "because": one.because.value, "node": str(one.node) if one.node else None}
            for one in found.selected
        ],
    }
