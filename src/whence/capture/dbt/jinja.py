"""The SQL of a model from its raw text, where dbt has not compiled it (docs/dbt.md, "Without compiled SQL").

Only what has one meaning is rendered: ref, source, config, this, var with a default, is_incremental, and the project's
own macros made of these. Any other name (a macro of a package, `run_query`, `env_var`, `target`) is not known here.

The text is not trusted: Jinja's sandbox, in a process of its own that is given little time and memory.
"""

import multiprocessing
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

SECONDS = 10
"""For one model, which takes some milliseconds unless it means harm."""
START_SECONDS = 120
"""For the process to be there, however busy the machine is."""
MEMORY = 2 << 30
"""Bytes of address space that the process may have."""
_SPENT = "it takes too much time or memory"
_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A model as its author wrote it, and what it may call by name.

    `relations`: tables as SQL names them, by ("ref", name), ("ref", package, name) or ("source", source, table).
    """

    id: str
    text: str
    this: str
    relations: Mapping[tuple[str, ...], str]
    incremental: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)
    macros: str = ""
    """The text of the project's own macros that it uses."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """SQL; or none, and what in the model is not known."""

    sql: str
    unknown: str = ""


def render_all(models: Iterable[Raw]) -> dict[str, Rendered]:
    """Every model, by its id. One that takes too much costs no other."""
    found, left = dict[str, Rendered](), list(models)[::-1]
    while left:
        with _renderer() as pipe:
            if not _is_ready(pipe):
                return found | {one.id: Rendered("", "no process could be started to render it") for one in left}
            answer: Rendered | None = Rendered("")
            while left and answer is not None:
                one = left.pop()
                answer = _ask(pipe, one)
                found[one.id] = answer or Rendered("", _SPENT)
    return found


def render(raw: Raw) -> Rendered:
    """One model, here: nothing limits the time that it takes."""
    sandbox = ImmutableSandboxedEnvironment(undefined=StrictUndefined, extensions=["jinja2.ext.do"])
    try:
        template = sandbox.from_string(raw.macros + raw.text, globals=_names(raw))
        return Rendered(template.render().strip())
    except (Exception, RecursionError, MemoryError) as error:  # whatever a text may make Jinja do
        return Rendered("", f"{type(error).__name__}: {error}"[:_SHOWN])


class _Relation(str):
    """A table's name, with its parts as dbt calls them."""

    __slots__ = ()

    @property
    def identifier(self) -> str:
        return self.rpartition(".")[2].strip('"`[]')

    name = table = identifier


@dataclass(frozen=True, slots=True)
class _Config:
    """`config(…)`, which is read already, and `config.get`."""

    said: Mapping[str, Any]

    def __call__(self, *_: object, **__: object) -> str:
        return ""

    def get(self, name: str, default: object = None) -> object:
        return self.said.get(name, default)


def _names(raw: Raw) -> dict[str, Any]:
    def ref(*names: str, **version: object) -> _Relation:
        said = next(iter(version.values()), None)
        return _Relation(raw.relations[("ref", *names) if said is None else ("ref", *names, f"v{said}")])

    def source(*names: str) -> _Relation:
        return _Relation(raw.relations[("source", *names)])

    def var(name: str, *default: object) -> object:
        if not default:
            raise LookupError(f"var({name!r}) has no default")
        return default[0]

    return {
        "ref": ref,
        "source": source,
        "var": var,
        "config": _Config(raw.config),
        "this": _Relation(raw.this),
        "is_incremental": lambda: raw.incremental,
    }


@contextmanager
def _renderer() -> Iterator[Connection]:
    """The pipe to a process that renders."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(there,), daemon=True)
    process.start()
    there.close()
    try:
        yield here
    finally:
        here.close()
        process.kill()
        process.join()


def _is_ready(pipe: Connection) -> bool:
    try:
        return pipe.poll(START_SECONDS) and bool(pipe.recv())
    except (EOFError, OSError):
        return False


def _ask(pipe: Connection, one: Raw) -> Rendered | None:
    """The answer; None if there was none in time, or the process died."""
    try:
        pipe.send(one)
        answer = pipe.recv() if pipe.poll(SECONDS) else None
    except (EOFError, OSError):
        return None
    return answer if isinstance(answer, Rendered) else None


def _serve(pipe: Connection) -> None:
    _limit_memory()
    pipe.send(True)
    while True:
        try:
            raw = pipe.recv()
        except EOFError:
            return
        pipe.send(render(raw))


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit; that of time remains
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
