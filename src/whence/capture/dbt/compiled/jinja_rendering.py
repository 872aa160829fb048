"""SQL rendered from the raw text of a model that dbt has not compiled (docs/how-to/dbt.md, "Without compiled SQL").

Only names with one meaning are rendered: ref, source, config, this, var with a default, is_incremental, and the
project's own macros made of these. Any other name (a macro of a package, `run_query`, `env_var`, `target`) is unknown
here.

The text is not trusted: it runs in Jinja's sandbox, in a process of its own with little time and memory.
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
"""The limit for one model. Rendering takes some milliseconds unless the text is malicious."""
START_SECONDS = 120
"""The limit for the start of the process, however busy the machine is."""
MEMORY = 2 << 30
"""Bytes of address space that the process may have."""
_SPENT = "it takes too much time or memory"
_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A model as its author wrote it, and the names that it may use.

    `relations`: table names in SQL, by ("ref", name), ("ref", package, name) or ("source", source, table).
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
    """The SQL of a model; or none, and the unknown part of the model."""

    sql: str
    unknown: str = ""


def render_all(models: Iterable[Raw]) -> dict[str, Rendered]:
    """Render every model. Returns the results by id. One that exceeds its limits does not stop the others."""
    rendered, remaining = dict[str, Rendered](), list(models)[::-1]
    while remaining:
        with _renderer() as pipe:
            if not _is_ready(pipe):
                return rendered | {
                    model.id: Rendered("", "no process could be started to render it") for model in remaining
                }
            answer: Rendered | None = Rendered("")
            while remaining and answer is not None:
                model = remaining.pop()
                answer = _ask(pipe, model)
                rendered[model.id] = answer or Rendered("", _SPENT)
    return rendered


def render(raw: Raw) -> Rendered:
    """Render one model in this process, without a time limit."""
    sandbox = ImmutableSandboxedEnvironment(undefined=StrictUndefined, extensions=["jinja2.ext.do"])
    try:
        template = sandbox.from_string(raw.macros + raw.text, globals=_names(raw))
        return Rendered(template.render().strip())
    except (Exception, RecursionError, MemoryError) as error:  # a text may cause any error in Jinja
        return Rendered("", f"{type(error).__name__}: {error}"[:_SHOWN])


class _Relation(str):
    """A table's name, with its parts under dbt's names."""

    __slots__ = ()

    @property
    def identifier(self) -> str:
        return self.rpartition(".")[2].strip('"`[]')

    name = table = identifier


@dataclass(frozen=True, slots=True)
class _Config:
    """`config(…)`, whose values the manifest already has, and `config.get`."""

    values: Mapping[str, Any]

    def __call__(self, *_: object, **__: object) -> str:
        return ""

    def get(self, name: str, default: object = None) -> object:
        return self.values.get(name, default)


def _names(raw: Raw) -> dict[str, Any]:
    def ref(*names: str, **version: object) -> _Relation:
        version_number = next(iter(version.values()), None)
        return _Relation(
            raw.relations[("ref", *names) if version_number is None else ("ref", *names, f"v{version_number}")]
        )

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
    """Open a pipe to a rendering process."""
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


def _ask(pipe: Connection, model: Raw) -> Rendered | None:
    """The process's answer; None after a timeout, or if the process died."""
    try:
        pipe.send(model)
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
