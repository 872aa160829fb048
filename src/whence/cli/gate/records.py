"""What people declared of a head at the server, and the record of its verdict there."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from urllib.parse import urlencode

import msgspec

from whence.cli.answers.ask import Questions
from whence.client.gate_records import RecordedWaiver
from whence.client.questions import Client
from whence.errors import AccessError, ApiError, ArtifactError, QuestionError
from whence.govern.gate.judgement import Approval, Head
from whence.govern.gate.policy import Rules, Waiver
from whence.govern.gate.records import shortened
from whence.model.gate_records import VerdictRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """Approvals and waivers of people. `notices`: which of them do not count, and why."""

    approvals: tuple[Approval, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    notices: tuple[str, ...] = ()


NOTHING_DECLARED = Declared()
NO_SERVER = "a verdict is recorded by a server: name one with --url or --profile"


def read_declared(questions: Questions, repository: str, head: Head, approvals: Sequence[Approval]) -> Declared:
    """The given approvals, and what is recorded of a repository (empty: nothing). Raises what `questions` raises."""
    if not repository:
        return Declared(approvals=tuple(approvals))
    found = (Approval(person=one.person, commit=one.commit) for one in questions.approvals(repository, head.commit))
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
