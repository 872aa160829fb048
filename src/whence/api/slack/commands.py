"""A slash command: who sends it, from where, and what it asks. Pure.

`/lineage gold.revenue.total --since 7d`, `/lineage impact raw.orders --share`, `/lineage upstream "Customer health"`.
"""

import re
import shlex
from dataclasses import dataclass, field
from enum import StrEnum
from html import unescape
from urllib.parse import parse_qs

from whence.errors import EventError
from whence.query.history.changes.period import DEFAULT

_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})
_DASH = re.compile(r"(?<!\S)[–—](?=[a-z])")
"""What Slack's editor makes of `--` in front of a word."""
_ID = re.compile(r"[A-Z0-9]{2,32}")
_MOST_FIELDS = 64


class Verb(StrEnum):
    """What is asked of the node."""

    CHANGES = "changes"
    UPSTREAM = "upstream"
    IMPACT = "impact"
    HELP = "help"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to answer. `mistake`: why it cannot be answered; then with the help."""

    verb: Verb
    node: str = ""
    since: str = DEFAULT
    share: bool = False
    mistake: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A slash command as Slack sends it: the ids of the workspace, the channel and the person, and the text.

    `response_url`: where an answer is taken later; empty: nowhere. It is a secret.
    """

    name: str
    team: str
    channel: str
    person: str
    text: str
    response_url: str = field(default="", repr=False)

    @property
    def person_subject(self) -> str:
        """What the person is called in grants."""
        return f"user:slack:{self.team}:{self.person}"

    @property
    def channel_group(self) -> str:
        """The group, in grants, of everybody who asks in this channel."""
        return f"slack:{self.team}:{self.channel}"


def read_sent(body: bytes) -> Sent:
    """The command in the body of a request. Raises EventError (400) if it is none."""
    try:
        fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise EventError("", f"the body is not the form of a slash command: {error}", 400) from None
    first = {name: values[0] for name, values in fields.items()}
    ids = {name: first.get(name, "") for name in ("team_id", "channel_id", "user_id")}
    for name, value in ids.items():
        if not _ID.fullmatch(value):
            raise EventError(f"/{name}", "write an id of Slack, such as T0123ABC", 400)
    return Sent(
        name=first.get("command", ""),
        team=ids["team_id"],
        channel=ids["channel_id"],
        person=ids["user_id"],
        text=first.get("text", ""),
        response_url=first.get("response_url", ""),
    )


def parse(text: str) -> Command:
    """What the text of a command asks."""
    words, options = _split(unescape(text).translate(_QUOTES)), dict[str, str]()
    named = list[str]()
    while words:
        word = words.pop(0)
        if word == "--share":
            options["share"] = "yes"
        elif word == "--since":
            if not words:
                return _wrong("--since needs a time: 24h, 7d or 2026-11-20T06:00")
            options["since"] = words.pop(0)
        elif word.startswith("--since="):
            options["since"] = word.partition("=")[2]
        elif word.startswith("--"):
            return _wrong(f"there is no option {word}")
        else:
            named.append(word)
    return _command(named, options)


def _command(named: list[str], options: dict[str, str]) -> Command:
    verbs = {str(one) for one in Verb}
    verb = Verb(named.pop(0)) if named and named[0] in verbs else Verb.CHANGES if named else Verb.HELP
    if verb is Verb.HELP:
        return Command(verb=verb)
    if not named:
        return _wrong(f"{verb} needs the name of a dataset, a column or a job")
    if "since" in options and verb is not Verb.CHANGES:
        return _wrong(f"{verb} has no --since")
    since = options.get("since", DEFAULT)
    return Command(verb=verb, node=" ".join(named), since=since, share="share" in options)


def _wrong(mistake: str) -> Command:
    return Command(verb=Verb.HELP, mistake=mistake)


def _split(text: str) -> list[str]:
    text = _DASH.sub("--", text)
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is never closed
        return text.split()
