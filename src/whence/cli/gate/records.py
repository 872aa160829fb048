"""What people declared of a head at the server, and the record of its verdict there."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
from rich.text import Text

from whence.cli.answers.ask import Questions
from whence.cli.gate.repository import Repository
from whence.cli.output.streams import Output, print_document, print_lines
from whence.client.questions import Client
from whence.client.values.gate_records import RecordedWaiver
from whence.errors import AccessError, ApiError, ArtifactError, QuestionError
from whence.govern.gate.code.job_code import address_of
from whence.govern.gate.judgement import Approval, Head
from whence.govern.gate.policy import Rules, Waiver
from whence.govern.gate.records import shortened
from whence.govern.gate.rendering.names import printable
from whence.model.gate_records import VerdictRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """Approvals and waivers of people. `notices`: which of them do not count, and why."""

    approvals: tuple[Approval, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A checkout, and the name of its repository in records, if that is not the address of `origin`."""

    folder: Path
    name: str = ""

    def repository_name(self) -> str:
        """The repository in records. Raises ArtifactError if it has no name."""
        if not (name := self.name or address_of(Repository(self.folder).remote())):
            raise ArtifactError(str(self.folder), "the checkout has no remote `origin`: name it with --repository-name")
        return name

    def commit(self, ref: str) -> str:
        """The full name of a commit. Raises ArtifactError."""
        return Repository(self.folder).commit(ref)


NOTHING_DECLARED = Declared()
NO_SERVER = "a verdict is recorded by a server: name one with --url or --profile"


def read_declared(questions: Questions, repository: str, head: Head, approvals: Sequence[Approval]) -> Declared:
    """The given approvals, and what is recorded of a repository (empty: nothing). Raises what `questions` raises."""
    if not repository:
        return Declared(approvals=tuple(approvals))
    commits = dict.fromkeys((head.commit, head.reviewed or head.commit))
    recorded_approvals = (one for commit in commits for one in questions.approvals(repository, commit))
    found = (Approval(person=one.person, commit=one.commit) for one in recorded_approvals)
    recorded = questions.waivers(repository)
    return Declared(
        approvals=(*approvals, *found),
        waivers=tuple(_waivers(recorded, head)),
        notices=tuple(_own_waivers(recorded, head)),
    )


def add_waivers(rules: Rules, waivers: Iterable[Waiver]) -> Rules:
    """The rules with recorded waivers. Of several waivers of one change the last to expire counts."""
    return replace(rules, waivers=tuple(sorted((*rules.waivers, *waivers), key=lambda one: one.expires)))


def record_verdict(questions: Client, repository: str, verdict: dict[str, Any], pull: str) -> str:
    """Record a verdict, as JSON; the address of its page. Empty, with a warning, if the server refuses it."""
    record = replace(shortened(msgspec.convert(verdict, VerdictRecord)), pull=pull)
    try:
        questions.record_verdict(repository, record.commit, msgspec.to_builtins(record))
    except (AccessError, ApiError, QuestionError) as error:
        sys.stderr.write(f"whence: the verdict is not recorded: {error}\n")
        return ""
    return f"{questions.url}/ui/verdict?{urlencode({'repository': repository, 'commit': record.commit})}"


def record_promotion(questions: Questions, promotion: dict[str, Any]) -> None:
    """Record the verdict on a promotion, as JSON; a warning if the server refuses it. Raises ArtifactError."""
    if not isinstance(questions, Client):
        raise ArtifactError("--record", NO_SERVER)
    try:
        questions.record_promotion(promotion["node"], promotion)
    except (AccessError, ApiError, QuestionError) as error:
        sys.stderr.write(f"whence: the verdict is not recorded: {error}\n")


def approve_commit(questions: Questions, place: Place, commit: str, output: Output, *, withdraw: bool) -> None:
    """Approve a commit as the owner of the key, or withdraw that, and print who approves it. Raises ArtifactError."""
    server, name = _server(questions, "approve"), place.repository_name()
    approvals = server.approve(name, full := place.commit(commit), withdraw=withdraw)
    people = [one.person for one in approvals]
    if output is Output.JSON:
        print_document({"repository": name, "commit": full, "approved_by": people})
        return
    text = f"{full[:12]} of {name} is approved by {', '.join(people) or 'nobody'}"
    print_lines([Text(printable(text)), Text("it counts when the gate runs next")])


def waive_change(questions: Questions, place: Place, change: str, waiver: tuple[str, str] | None) -> None:
    """Waive a change, for a reason until a day, as the owner of the key; None: end its waiver. Raises ArtifactError."""
    server, name = _server(questions, "waive"), place.repository_name()
    if waiver is None:
        server.end_waiver(name, change)
        print_lines([Text(printable(f"{change} of {name} is no longer waived"))])
        return
    reason, expires = waiver
    server.waive(name, change, reason=reason, expires=expires)
    print_lines([Text(printable(f"{change} of {name} may pass until {expires}"))])


def list_waivers(questions: Questions, place: Place, output: Output) -> None:
    """Print the recorded waivers of a repository, expired ones among them. Raises ArtifactError."""
    found = questions.waivers(place.repository_name())
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
        return
    today = datetime.now(UTC).date()
    for one in found:
        expired = " (expired)" if today > date.fromisoformat(one.expires) else ""
        print_lines([Text(printable(f"{one.change}  until {one.expires}{expired}  {one.owner}  {one.reason}"))])
    if not found:
        print_lines([Text("no change is waived here; waivers in gate.yaml are in the repository")])


def _server(questions: Questions, act: str) -> Client:
    if not isinstance(questions, Client):
        raise ArtifactError(act, "a server takes it, in the name of your key: name one with --url or --profile")
    return questions


def _waivers(recorded: Iterable[RecordedWaiver], head: Head) -> Iterator[Waiver]:
    for one in recorded:
        if not head.is_author(one.owner):
            expires = date.fromisoformat(one.expires)
            yield Waiver(change=one.change, reason=one.reason, owner=one.owner, expires=expires, place="recorded")


def _own_waivers(recorded: Iterable[RecordedWaiver], head: Head) -> Iterator[str]:
    return (
        f"the waiver of {one.change} by {one.owner} does not count: they wrote this head"
        for one in recorded
        if head.is_author(one.owner)
    )
