"""Groups of options that commands share: frozen dataclasses, each field an option of the command line."""

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter
from typing import Any, get_type_hints

from whence.cli.commands.options import (
    AsOf,
    Data,
    Depth,
    Jobs,
    Kinds,
    Namespaces,
    Owners,
    Profile,
    ServerUrl,
    Store,
    Types,
    Within,
)
from whence.cli.commands.options import Tags as TagNames


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer wants it: in the place of each parameter that is a dataclass, that one's fields.

    A field is declared as a parameter is, `Annotated` with a `typer.Option`. No two
    options, nor an option and a parameter, have the same name.
    """
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {one.name: one.annotation for one in parameters if is_dataclass(one.annotation)}

    @functools.wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: group(**{one.name: given.pop(one.name) for one in fields(group)}) for name, group in groups.items()
        }
        command(**given, **made)

    flat = [each for one in parameters for each in _parameters_of(one)]
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]  # what Typer reads
    run.__annotations__ = {one.name: one.annotation for one in flat}
    return run


def _parameters_of(parameter: Parameter) -> Iterator[Parameter]:
    """The parameters of the command line that one of a command stands for."""
    group = parameter.annotation
    if not is_dataclass(group):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    types = get_type_hints(group, include_extras=True)
    for one in fields(group):
        default = Parameter.empty if one.default is MISSING else one.default
        yield Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=types[one.name])


@dataclass(frozen=True, slots=True)
class ServerOrStore:
    """Whom to ask. `open_questions` reads these from the command's context, with where each of them comes from."""

    url: ServerUrl = None
    profile: Profile = None
    data: Data = None
    store: Store = None


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """Where a walk through the graph goes, and which of the nodes that it finds are listed."""

    depth: Depth = None
    types: Types = None
    as_of: AsOf = None
    namespace: Namespaces = None
    tag: TagNames = None
    owner: Owners = None
    kind: Kinds = None
    job: Jobs = None
    within: Within = False
