"""The work of `whence subject`: where the data of a person is, as text and as a report."""

from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

from rich.text import Text

from whence.cli.answers.ask import QuestionCommand, show
from whence.cli.answers.sensitive_data.sensitivity import grade_text, unknown_lines
from whence.cli.answers.tree import Style, number
from whence.cli.output.labels import Labels, age, label, name_of
from whence.cli.output.streams import Exit as ExitCode
from whence.cli.output.streams import Rows, safe
from whence.client.answers.sensitivity import SubjectData
from whence.client.values.sensitivity import PlaceOfPersonalData, SubjectOptions
from whence.query.answers.instants import read_iso

_NAMED = 3
"""The most readers, owners or columns that a line names."""


def show_subject(
    command: QuestionCommand, node: str | None, limit: int, report: Path | None, **options: Unpack[SubjectOptions]
) -> ExitCode:
    """Print where the data of a person is, as text at most `limit` datasets; and write the report of all.

    Raises OSError if the file cannot be written.
    """
    shown = limit if command.output is Rows.TEXT and report is None else None
    found = command.questions.subject(node, limit=shown, **options)
    if report is not None:
        from whence.cli.answers.sensitive_data.subject_report import subject_report

        report.write_text(subject_report(found), "utf-8")
    return show(command, found, lambda style: _lines(found, style, limit))


def _lines(found: SubjectData, style: Style, limit: int) -> Iterator[Text]:
    shown = found.places[:limit]
    labels = label(map(name_of, _nodes(found)))
    if not shown:
        yield Text(_nothing(found))
    for one in shown:
        yield Text.assemble(
            (f"{one.step:>4}. ", "dim"), grade_text(one.grade), (labels.of(name_of(one.dataset)), "bold"), _kept(one)
        )
        yield Text(f"      {_facts(one, labels, style)}", style="dim")
        if len(one.labels[0].path) > 1:
            yield Text(f"      {_way(one, labels, style)}", style="dim")
            if made := list(dict.fromkeys(safe(text) for text in one.labels[0].steps if text != "identity")):
                yield Text(f"      made by {f' {style.glyphs.right} '.join(made)}", style="dim")
    if found.datasets > limit:
        yield Text(f"{number(found.datasets, 'dataset')}. All: --limit, --output csv, --report", style="dim")
    if found.more_starts:
        more = f"{number(found.more_starts, 'more tagged dataset')}: ask for one of them, or for one tag."
        yield Text.assemble(("Not all is searched: ", "bold yellow"), more)
    yield from unknown_lines(found.completeness, found.gaps, labels)


def _nodes(found: SubjectData) -> set[str]:
    of_places = (one for place in found.places for one in (place.dataset, *place.readers))
    ways = (node for place in found.places for one in place.labels for node in one.path)
    return {*found.starts, *found.gaps, *of_places, *ways}


def _nothing(found: SubjectData) -> str:
    if found.starts:
        return f"Nothing shows its data with a grade of {found.at_least} or more."
    return "Nothing is tagged as personal data: tag columns (pii, phi, financial …), say which with --tag, or name one."


def _kept(one: PlaceOfPersonalData) -> Text:
    kept = "" if one.retention is None else f"  kept {safe(one.retention)}"
    if one.must_keep_days is None:
        return Text(kept, style="dim")
    own = "no retention set" if one.retention is None else f"kept {safe(one.retention)}"
    return Text(f"  {own}, its sources {number(one.must_keep_days, 'day')}", style="yellow")


def _facts(one: PlaceOfPersonalData, labels: Labels, style: Style) -> str:
    written = (
        "never seen written" if one.last_written is None else f"written {age(style.now - read_iso(one.last_written))}"
    )
    readers = _few(tuple(labels.of(name_of(reader)) for reader in one.readers), "nobody")
    if one.hidden_readers:
        readers += f" and {number(one.hidden_readers, 'job')} that you may not see"
    owners = _few(tuple(map(safe, one.owners)), "nobody")
    columns = _few(tuple(map(safe, one.columns)), "the whole dataset")
    return f"{columns}; owned by {owners}; {written}; read by {readers}"


def _way(one: PlaceOfPersonalData, labels: Labels, style: Style) -> str:
    return f" {style.glyphs.right} ".join(labels.of(name_of(node)) for node in one.labels[0].path)


def _few(texts: tuple[str, ...], nothing: str) -> str:
    rest = f" and {len(texts) - _NAMED:,} more" if len(texts) > _NAMED else ""
    return ", ".join(texts[:_NAMED]) + rest if texts else nothing
