"""Paths and search results as text."""

from collections.abc import Iterator

from rich.text import Text

from whence.cli.answers.tree import Style, past_limit_text, transformation_text
from whence.cli.output.labels import Labels, age, label, name_of, run_of
from whence.cli.output.streams import safe
from whence.client.answers.graph import Paths
from whence.client.answers.search import Found
from whence.client.values.graph import BlastRadius, Path, Step
from whence.client.values.sensitivity import FoundLabel
from whence.model.blast_radius import COUNTED
from whence.model.names import FieldName
from whence.query.answers.instants import read_iso


def path_lines(paths: Paths, style: Style) -> Iterator[Text]:
    """Each path as a chain from source to target, the shortest first."""
    steps = [step for path in paths.paths for step in path.steps]
    owners = [edge.owner for step in steps for edge in step.edges]
    nodes = [paths.source, paths.target, *owners, *(node for step in steps for node in (step.source, step.target))]
    labels = label(map(name_of, nodes), style.glyphs.more)
    for number, path in enumerate(paths.paths, start=1):
        yield _title(number, path)
        yield from _chain(paths, path, labels, style)
        yield Text()
    yield _summary_line(paths, labels)


def is_outdated(radius: BlastRadius) -> bool:
    """Whether it says that nothing depends on the node, and was counted before the latest events: no use to anybody."""
    return not radius.current and not any(getattr(radius, name).count for name in COUNTED)


def radius_line(radius: BlastRadius, now: int) -> Text:
    """The blast radius of a node, with the error of estimates and its age. `now` in microseconds UTC."""
    counted = [(name, one) for name in COUNTED if (one := getattr(radius, name)).count]
    counts = ", ".join(
        f"{one.count:,} {name if one.count != 1 else name[:-1]}{_plus_or_minus(one.relative_error)}"
        for name, one in counted
    )
    behind = ", before the latest events" if not radius.current else ""
    when = f"counted {age(max(now - read_iso(radius.computed_at), 0))}{behind}"
    return Text.assemble(("Blast radius: ", "bold"), f"{counts or 'nothing'} ({when}).")


def _plus_or_minus(error: float) -> str:
    return f" ±{error:.0%}" if error else ""


def found_lines(found: Found, limit: int) -> Iterator[Text]:
    """One line for each name: its kind, and its node id."""
    for one in found.nodes:
        why = "" if one.by in {"name", "label"} else f"  by its {one.by}"
        labels = "".join(map(_label_text, one.labels))
        yield Text.assemble((f"{one.kind:8}", "dim"), _last_part_bold(one.node), (why, "dim"), (labels, "cyan"))
    if not found.nodes:
        yield Text(f"Nothing is found for {safe(found.text)!r}.", style="yellow")
    elif not found.complete and not (found.not_labelled and len(found.nodes) < limit):
        yield Text(f"There is more: these are the first {len(found.nodes)}.", style="yellow")
    if found.not_labelled:
        yield Text(not_labelled_text(found.not_labelled), style="yellow")


def not_labelled_text(count: int) -> str:
    """How many columns may have labels that could not be computed, and why."""
    columns = f"{count:,} more column{'s' * (count != 1)}"
    return f"Not known for {columns}: a job upstream reports no columns, or a node upstream may not be seen."


def _label_text(one: FoundLabel) -> str:
    return f"  {one.category} {one.grade}{' assumed' * one.assumed}"


def _title(number: int, path: Path) -> Text:
    hops = f"{len(path.steps)} hop{'' if len(path.steps) == 1 else 's'}"
    via = "" if path.via is None else safe(f"{path.via.type} {path.via.subtype}".strip())
    return Text.assemble(
        (f"{number}. ", "bold"), ", ".join(filter(None, [hops, via, "masked" if path.via and path.via.masking else ""]))
    )


def _chain(paths: Paths, path: Path, labels: Labels, style: Style) -> Iterator[Text]:
    begin = path.steps[0].source if path.steps else paths.source
    yield Text(labels.of(name_of(begin)), style="bold")
    for depth, step in enumerate(path.steps):
        yield _owner(step, labels, style, "   " * depth)
        line = Text().append("   " * depth + style.glyphs.ends[0], style="dim").append(labels.of(name_of(step.target)))
        expression, types = transformation_text(step.edges)
        arrow = f"  {style.glyphs.right} " if expression or types else ""
        yield (
            line.append(arrow, style="dim")
            .append(expression, style="cyan")
            .append("  " if expression else "")
            .append(types, style="green")
        )


def _owner(step: Step, labels: Labels, style: Style, prefix: str) -> Text:
    owners = ", ".join(dict.fromkeys(labels.of(name_of(edge.owner)) for edge in step.edges))
    run = run_of([one for edge in step.edges for one in edge.evidence], style.now)
    words = style.glyphs.dot.join(filter(None, [owners, run]))
    return Text().append(f"{prefix}{style.glyphs.bar} ", style="dim").append(words, style="dim italic")


def _summary_line(paths: Paths, labels: Labels) -> Text:
    ends = f"from {labels.of(name_of(paths.source))} to {labels.of(name_of(paths.target))}"
    count = len(paths.paths)
    count_text = f"{count} path{'' if count == 1 else 's'} {ends}." if count else f"no path {ends}."
    if limit := past_limit_text(paths.completeness):
        return limit
    if paths.completeness.complete:
        return Text.assemble(("Complete: ", "bold green"), count_text)
    return Text.assemble(("Not all: ", "bold yellow"), count_text, " There may be more.")


def _last_part_bold(node: str) -> Text:
    name, text = name_of(node), safe(node)
    own = safe(name.field if isinstance(name, FieldName) else name.name.rpartition("/")[2])
    line = Text(text)
    if text.endswith(own):
        line.stylize("bold", len(text) - len(own))
    return line
