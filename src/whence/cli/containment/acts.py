"""`whence contain apply`, `undo` and `status`: pause what a plan has, undo it, and list what was done."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import msgspec
from rich.text import Text

from whence.cli.answers.tree import number
from whence.cli.containment.plan import read_plan
from whence.cli.containment.step_log import ServerSteps
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.client.acts.containment import ContainmentPlan, ContainmentStep
from whence.errors import ArtifactError
from whence.govern.containment.acts import Act, Containing, Outcome
from whence.govern.containment.assignment import Assigned, assign, targets_of
from whence.govern.containment.orchestrators_file import OrchestratorRule, airflow_at, connect, read_orchestrators
from whence.govern.containment.steps import Held, Target, fold_steps, held_by
from whence.model.access import matches_pattern

MOST = 50
"""Targets that one act may pause, unless it is said otherwise."""
_FAILED = "failed"
_WORDS = {
    "paused": ("paused", "green"),
    "unchanged": ("was paused before", "dim"),
    "resumed": ("resumed", "green"),
    "released": ("left as it is", "dim"),
    "failed": ("FAILED", "bold red"),
    "would pause": ("would pause", "yellow"),
    "would resume": ("would resume", "yellow"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Orchestrators:
    """Where to pause: the addresses of Airflows, and a file. `allow`: patterns of ids; `most`: targets of one act."""

    airflows: Sequence[str] = ()
    file: Path | None = None
    allow: Sequence[str] = ()
    most: int = MOST

    def rules(self) -> Sequence[OrchestratorRule]:
        """The orchestrators. Raises ArtifactError, RulesFileError."""
        found = [*(read_orchestrators(self.file) if self.file else ()), *map(airflow_at, self.airflows)]
        if not found:
            raise ArtifactError("--airflow", "name an Airflow, or a file of orchestrators with --orchestrators")
        return found


def show_applied(
    log: ServerSteps, file: Path, incident: str, where: Orchestrators, output: Output, *, dry_run: bool
) -> Exit:
    """Pause what a plan has, and print what became of it. Raises ArtifactError, AccessError, ApiError."""
    plan = read_plan(file)
    targets = [_narrowed(one, where.allow) for one in assign(targets_of(plan), where.rules())]
    if len(targets) > where.most:
        raise ArtifactError(
            str(file), f"{len(targets):,} targets are more than --most {where.most:,}: nothing was paused"
        )
    act = Act(incident=incident, node=plan.node, plan=_hash(plan))
    containing = Containing(log, connect)
    try:
        found = containing.pause(act, targets, dry_run=dry_run)
        return _report(act, _printed(found, output), output, dry_run=dry_run)
    finally:
        containing.close()


def show_undone(log: ServerSteps, incident: str, where: Orchestrators, output: Output, *, dry_run: bool) -> Exit:
    """Resume what was paused for an incident, and only that. Raises ArtifactError, AccessError, ApiError."""
    log.rows(incident)
    hidden, held = log.hidden, held_by(fold_steps(log.steps()), incident)
    rules = where.rules() if held else ()
    targets = [_of_step(incident, target, one, rules) for target, one in held.items()]
    act = Act(incident=incident, node=next((one.holders[incident].node for one in held.values()), ""))
    containing = Containing(log, connect)
    try:
        outcomes = _printed(containing.resume(act, targets, dry_run=dry_run), output)
        done = _report(act, outcomes, output, dry_run=dry_run)
    finally:
        containing.close()
    if hidden:
        text = f"{number(hidden, 'step')} in namespaces that this key may not read: nothing was done about them."
        print_lines([Text(text, style="yellow")] if output is Output.TEXT else [])
        return Exit.MISTAKE
    return done


def show_status(log: ServerSteps, incident: str, output: Output) -> Exit:
    """Print the steps of an incident, or of all."""
    rows = log.rows(incident)
    if output is Output.JSON:
        print_document({"steps": msgspec.to_builtins(rows), "hidden": log.hidden})
        return Exit.OK
    print_lines(_status_lines(rows, log))
    return Exit.OK


def _narrowed(one: Assigned, allow: Sequence[str]) -> Assigned:
    if one.rule is None or not allow or any(matches_pattern(pattern, one.target.id) for pattern in allow):
        return one
    return Assigned(target=one.target, rule=None, reason="--allow does not name it", running=one.running)


def _of_step(incident: str, target: Target, held: Held, rules: Sequence[OrchestratorRule]) -> Assigned:
    """The orchestrator by the name in the step, else one that fits."""
    name = (held.receipt or held.holders[incident]).orchestrator
    named = [one for one in rules if one.name == name and one.type in (target.system, "webhook")]
    return Assigned(target=target, rule=named[0]) if named else assign([(target, False)], rules)[0]


def _hash(plan: ContainmentPlan) -> str:
    """The hash of a plan, in the steps that followed it."""
    return sha256(msgspec.json.encode(plan)).hexdigest()[:16]


def _printed(found: Iterable[Outcome], output: Output) -> Sequence[Outcome]:
    """All outcomes, each printed when it is known: a terminal that is lost has what was done by then."""
    outcomes = []
    for one in found:
        outcomes.append(one)
        if output is Output.TEXT:
            print_lines([_line(one)])
    return outcomes


def _line(one: Outcome) -> Text:
    word, style = _WORDS[one.did]
    line = Text.assemble((f"{word:<18}", style), f"{one.target.system} ", (safe(one.target.id), "bold"))
    line.append(f"  {safe(one.reason)}" if one.reason else "", style="dim")
    is_going_on = one.running and one.did in ("paused", "unchanged", "would pause")
    return line.append(f"  {number(one.running or 0, 'run')} go on" if is_going_on else "", style="yellow")


def _report(act: Act, found: Sequence[Outcome], output: Output, *, dry_run: bool) -> Exit:
    counts = Counter(one.did for one in found)
    if output is Output.JSON:
        rows = [{**one.target._asdict(), "did": one.did, "reason": one.reason, "running": one.running} for one in found]
        print_document({**{k: v for k, v in asdict(act).items() if k != "plan"}, "dry_run": dry_run, "targets": rows})
    else:
        print_lines(_summary(counts, found, dry_run=dry_run))
    return Exit.MISTAKE if counts[_FAILED] else Exit.OK


def _summary(counts: Counter[str], found: Sequence[Outcome], *, dry_run: bool) -> Iterator[Text]:
    if not found:
        yield Text("There is nothing to do.")
        return
    yield Text(", ".join(f"{_WORDS[did][0].lower()}: {count:,}" for did, count in sorted(counts.items())), style="bold")
    if dry_run:
        yield Text("This was a dry run: nothing was changed, and nothing was recorded.", style="dim")


def _status_lines(rows: Sequence[ContainmentStep], log: ServerSteps) -> Iterator[Text]:
    for one in rows:
        line = Text(f"{one.recorded_at[:19]}  ", style="dim").append(f"{safe(one.incident)}  ", style="cyan")
        line.append(f"{one.phase:<10}").append(f"{one.system} ").append(safe(one.id), style="bold")
        line.append(f"  {safe(one.person)}  {safe(one.node)}", style="dim")
        yield line.append(f"  {safe(one.reason)}" if one.reason else "", style="dim")
    if not rows:
        yield Text("Nothing was contained.")
    if log.hidden:
        yield Text(f"{number(log.hidden, 'step')} in namespaces that this key may not read.", style="yellow")
