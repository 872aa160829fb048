"""`whence certification apply`: the events that declare the rules of a file, and end those that it no longer has."""

from collections.abc import Iterator
from pathlib import Path

from whence.cli.certification.files import load_rules
from whence.cli.declarations import RulesFile, apply_rules
from whence.cli.output.streams import Exit, Output
from whence.client.questions import Client
from whence.govern.certification.records import CERTIFICATION
from whence.govern.declared_rules import HeldRule


def show_applied(file: Path, url: str, output: Output, *, prune: bool, dry_run: bool) -> Exit:
    """Declare the rules of a file, and print what changed. Raises RulesFileError, ArtifactError, ApiError."""
    rules = RulesFile(kind=CERTIFICATION, rules=load_rules(file))
    apply_rules(rules, url, _held, output, prune=prune, dry_run=dry_run)
    return Exit.OK


def _held(questions: Client) -> Iterator[HeldRule]:
    for one in questions.certification_rules():
        yield HeldRule(namespace=one.namespace, name=one.name, version=one.version)
