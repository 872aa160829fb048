"""`whence evidence`: packs that prove where a node comes from, their verification, and the keys that sign them."""

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from whence.cli.commands.options import (
    AsOf,
    Data,
    Depth,
    EventLog,
    Form,
    MaxEdges,
    MaxNodes,
    Node,
    Profile,
    Security,
    ServerUrl,
    Store,
    Types,
    choice_option,
)
from whence.cli.commands.source import open_questions
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import (
    data_directory,
    evidence_keys,
    log_url,
    security_db,
    signed_heads,
    store_url,
    stored_packs,
)
from whence.query.answers.instants import iso

if TYPE_CHECKING:
    from whence.cli.answers.evidence import Places

MAKE, STORE = "of", "store"
MOST_NODES, MOST_EDGES = 100_000, 1_000_000
_EPILOG = "`whence evidence NODE` is short for `whence evidence of NODE`."
_MAKE_EPILOG = "Exit codes: 0 the pack is written; 3 it is, but a budget cut its lineage; 1, 2 and 4 as everywhere."
_VERIFY_EPILOG = "Exit codes: 0 verified; 1 not verified, or it cannot be read; 2 wrong usage."


class _NodeOrCommand(TyperGroup):
    """A group that takes whatever is none of its commands as the arguments of `of`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        is_of_group = not args or args[0] in self.commands or args[0] in ("--help", "-h")
        return super().parse_args(ctx, args if is_of_group else [MAKE, *args])


class KeyAlgorithm(StrEnum):
    """The algorithm of a key that signs."""

    ED25519 = "ed25519"
    P256 = "p256"


class CardForm(StrEnum):
    """The forms of a model card."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"


evidence = typer.Typer(
    name="evidence",
    cls=_NodeOrCommand,
    help="Prove where a node comes from: a signed pack of files that others verify offline.",
    epilog=_EPILOG,
    no_args_is_help=True,
)
key = typer.Typer(name="key", help="The key that signs evidence packs.", no_args_is_help=True)
evidence.add_typer(key)

Into = Annotated[Path, typer.Option("--into", "-o", help="A new or empty directory for the files")]
New = Annotated[KeyAlgorithm, choice_option(KeyAlgorithm, "--algorithm", help="The algorithm of the key")]
Next = Annotated[
    KeyAlgorithm | None,
    choice_option(KeyAlgorithm, "--algorithm", help="Its algorithm; that of the last key if not given"),
]


@evidence.command(MAKE, epilog=_MAKE_EPILOG)
def make(
    context: typer.Context,
    node: Node,
    into: Into,
    as_of: AsOf = None,
    types: Types = None,
    depth: Depth = None,
    max_nodes: MaxNodes = MOST_NODES,
    max_edges: MaxEdges = MOST_EDGES,
    url: ServerUrl = None,
    profile: Profile = None,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    security: Security = None,
) -> None:
    """Write a pack of the lineage of a node: everything upstream, and the events that prove each edge."""
    from whence.cli.answers.evidence import write_pack

    options: dict[str, Any] = {"types": types, "depth": depth, "max_nodes": max_nodes, "max_edges": max_edges}
    with reporting(Output.TEXT):
        raise typer.Exit(write_pack(_make(context, node, as_of, options), into))


def card(
    context: typer.Context,
    node: Annotated[str, typer.Argument(metavar="MODEL", help="A dataset of type MODEL")],
    as_of: AsOf = None,
    max_nodes: MaxNodes = MOST_NODES,
    max_edges: MaxEdges = MOST_EDGES,
    url: ServerUrl = None,
    profile: Profile = None,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    security: Security = None,
    output: Annotated[CardForm, choice_option(CardForm, "--output", "-o", help="The form of the card")] = CardForm.TEXT,
) -> None:
    """Print the card of a model: training runs, features and their raw columns, labels, drift since, approvals."""
    from whence.cli.answers.model_card import print_card

    options: dict[str, Any] = {"types": None, "depth": None, "max_nodes": max_nodes, "max_edges": max_edges}
    with reporting(Output.JSON if output is CardForm.JSON else Output.TEXT):
        print_card(_make(context, node, as_of, options), node, output.value)


def _make(context: typer.Context, node: str, as_of: int | None, options: dict[str, Any]) -> dict[str, bytes]:
    """The files of a pack, from the server or the store of a command."""
    from whence.cli.answers.evidence import make_pack_here
    from whence.client.questions import Client
    from whence.govern.evidence.archive import unzip_files

    at, given = time.time_ns() // 1_000 if as_of is None else as_of, context.params
    with open_questions(context) as questions:
        if isinstance(questions, Client):
            return dict(unzip_files(questions.evidence(node, as_of=iso(at), **options)))
        places = _places(data_directory(given["data"]), given["store"], given["log"], given["security"])
        return dict(make_pack_here(places, node, at, options))


def _places(where: Path, store: str | None, log: str | None, security: str | None) -> "Places":
    from whence.cli.answers.evidence import Places

    stored = store_url(where, store)
    return Places(
        store=stored,
        log=log_url(where, log),
        security=security_db(stored, security),
        keys=evidence_keys(where),
        heads=signed_heads(where),
    )


@evidence.command(STORE)
def store_all(
    into: Annotated[
        str | None,
        typer.Option("--into", "-o", help="A path or URL of an object store; else WHENCE_EVIDENCE, else DATA/evidence"),
    ] = None,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    security: Security = None,
    output: Form = Output.TEXT,
) -> None:
    """Store the packs of all certified datasets, one for each version: what a server does on a schedule."""
    from whence.cli.answers.evidence import store_certified

    where = data_directory(data)
    with reporting(output):
        store_certified(_places(where, store, log, security), stored_packs(where, into), output)


@evidence.command(epilog=_VERIFY_EPILOG)
def verify(
    pack: Annotated[Path, typer.Argument(exists=True, help="The directory of the pack, or its ZIP file")],
    key: Annotated[
        list[Path] | None,
        typer.Option("--key", exists=True, dir_okay=False, help="A public key that you trust (PEM); may be repeated"),
    ] = None,
    unsigned: Annotated[bool, typer.Option("--unsigned", help="Accept a pack that no trusted key signed")] = False,
    output: Form = Output.TEXT,
) -> None:
    """Verify a pack: its signature, the hash of each file, and that the events of each edge are there, unchanged."""
    from whence.cli.answers.evidence import show_verified

    with reporting(output):
        raise typer.Exit(show_verified(pack, key or (), unsigned=unsigned, output=output))


@evidence.command()
def script() -> None:
    """Print verify.sh, which verifies a pack with sh, jq, openssl and coreutils only."""
    from whence.govern.evidence.shipped_files import shipped_file

    typer.echo(shipped_file("verify.sh").decode(), nl=False)


@key.command()
def create(algorithm: New = KeyAlgorithm.ED25519, data: Data = None, output: Form = Output.TEXT) -> None:
    """Create the key that signs packs, and print its public half."""
    from whence.cli.administration.evidence_keys import show_created

    with reporting(output):
        show_created(evidence_keys(data_directory(data)), algorithm, _now(), output)


@key.command()
def rotate(algorithm: Next = None, data: Data = None, output: Form = Output.TEXT) -> None:
    """Replace the key that signs packs. The old public half stays listed, and verifies what it signed."""
    from whence.cli.administration.evidence_keys import show_rotated

    with reporting(output):
        show_rotated(evidence_keys(data_directory(data)), algorithm, _now(), output)


@key.command("list")
def list_(data: Data = None, output: Form = Output.TEXT) -> None:
    """List the public keys, the oldest first."""
    from whence.cli.administration.evidence_keys import show_keys

    with reporting(output):
        show_keys(evidence_keys(data_directory(data)), output)


def _now() -> str:
    return iso(time.time_ns() // 1_000_000_000 * 1_000_000)
