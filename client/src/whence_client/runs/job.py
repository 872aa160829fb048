"""Functions as jobs: each call is a run. Of coroutines, generators and methods, too."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import AsyncIterator, Generator, Iterable
from typing import Any, Callable, TypeVar, Union, overload

from whence_client.captures.session import Session, process_session
from whence_client.events.datasets import Dataset
from whence_client.outbox import Outbox
from whence_client.runs.code import CodeLocation
from whence_client.runs.run import CAPTURE, Run

F = TypeVar("F", bound=Callable[..., Any])
Things = Union[Iterable[Any], Callable[..., Any]]
"""Datasets, or a function that returns them for the arguments of the call."""

_MARGIN_SECONDS = 0.2
"""What a serverless function keeps of its time for its own return."""


@overload
def job(name: F) -> F: ...


@overload
def job(
    name: str = "", *, inputs: Things = (), outputs: Things = (), namespace: str = "", session: Session | None = None
) -> Callable[[F], F]: ...


def job(
    name: Any = "", *, inputs: Things = (), outputs: Things = (), namespace: str = "", session: Session | None = None
) -> Any:
    """Make each call of a function a run of a job, named as the function if no name is given.

    `inputs` and `outputs` are as for `Run.reads` and `Run.writes`, or a function of the call's arguments that returns
    them. In a serverless function that gets a context with a deadline, the events are sent before it returns.
    """

    def decorate(function: F, chosen: str = "") -> F:
        title = chosen or _title(function)
        code = getattr(inspect.unwrap(function), "__code__", None)
        location = CodeLocation(code.co_filename, code.co_firstlineno) if code else None

        def make(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
            run = Run(title, namespace=namespace, location=location, session=session)
            guard = (session or process_session()).guard(CAPTURE)
            with guard(f"inputs of {title}"):
                run.reads(*_resolve_datasets(inputs, args, kwargs))
            with guard(f"outputs of {title}"):
                for output in _resolve_datasets(outputs, args, kwargs):
                    run.writes(output)
            return run

        return functools.wraps(function)(_wrapper(function, make))  # type: ignore[return-value]

    return decorate(name) if callable(name) else lambda function: decorate(function, str(name))


def track_lineage(
    inputs: Iterable[Any], outputs: Iterable[Any], job_namespace: str = "default", emitter: Any = None
) -> Callable[[F], F]:
    """The decorator of many home-made emitters, with their arguments. `emitter` is anything with `emit(event)`."""
    session = Session(_EmitterOutbox(emitter)) if emitter is not None else None

    def decorate(function: F) -> F:
        name = getattr(function, "__qualname__", "job")
        return job(name, inputs=inputs, outputs=outputs, namespace=job_namespace, session=session)(function)

    return decorate


class _EmitterOutbox(Outbox):
    """An outbox that hands each event to somebody else's emitter."""

    def __init__(self, emitter: Any) -> None:
        super().__init__(process_session().outbox.settings)
        self._emitter = emitter

    def emit(self, event: dict[str, Any]) -> bool:
        try:
            self._emitter.emit(event)
        except Exception as error:
            self._warn("an emitter failed", error)
            return False
        return True


def _wrapper(function: Any, make: Callable[..., Run]) -> Any:
    if inspect.isasyncgenfunction(function):
        return lambda *args, **kwargs: _async_steps(make(args, kwargs), function(*args, **kwargs))
    if inspect.isgeneratorfunction(function):

        def call_generator(*args: Any, **kwargs: Any) -> Any:
            return (yield from _steps(make(args, kwargs), function(*args, **kwargs)))

        return call_generator
    if inspect.iscoroutinefunction(function):

        async def call_async(*args: Any, **kwargs: Any) -> Any:
            async with make(args, kwargs) as run:
                result = await function(*args, **kwargs)
            _flush_in_time(run, args)
            return result

        return call_async

    def call(*args: Any, **kwargs: Any) -> Any:
        run = make(args, kwargs)
        try:
            with run:
                return function(*args, **kwargs)
        finally:
            _flush_in_time(run, args)

    return call


def _steps(run: Run, generator: Any) -> Generator[Any, Any, Any]:
    """The generator's items. The run is active while the generator works, not while its consumer does."""
    sent: Any = None
    thrown: BaseException | None = None
    run.start()
    try:
        while True:
            run.activate()
            try:
                item = generator.throw(thrown) if thrown is not None else generator.send(sent)
            finally:
                run.deactivate()
            thrown = None
            try:
                sent = yield item
            except GeneratorExit:
                generator.close()
                raise
            except BaseException as error:
                thrown = error
    except StopIteration as stop:
        run.finish()
        return stop.value
    except BaseException as error:
        run.finish(error)
        raise


async def _async_steps(run: Run, generator: Any) -> AsyncIterator[Any]:
    sent: Any = None
    thrown: BaseException | None = None
    run.start()
    try:
        while True:
            run.activate()
            try:
                item = await (generator.athrow(thrown) if thrown is not None else generator.asend(sent))
            finally:
                run.deactivate()
            thrown = None
            try:
                sent = yield item
            except GeneratorExit:
                await generator.aclose()
                raise
            except BaseException as error:
                thrown = error
    except StopAsyncIteration:
        run.finish()
    except BaseException as error:
        run.finish(error)
        raise


def _resolve_datasets(things: Things, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    found = things(*args, **kwargs) if callable(things) else things
    if isinstance(found, (str, os.PathLike, Dataset)):
        return (found,)
    return tuple(found)


def _flush_in_time(run: Run, args: tuple[Any, ...]) -> None:
    """Send before a serverless function returns: its process is frozen afterwards."""
    for argument in args:
        remaining = getattr(argument, "get_remaining_time_in_millis", None)
        if callable(remaining):
            run.flush(max(0.0, remaining() / 1000 - _MARGIN_SECONDS))
            return


def _title(function: Any) -> str:
    module = str(getattr(function, "__module__", "") or "")
    if module == "__main__":
        module = os.path.splitext(os.path.basename(getattr(sys.modules["__main__"], "__file__", "") or "main"))[0]
    name = str(getattr(function, "__qualname__", type(function).__name__)).replace("<locals>.", "")
    return f"{module}.{name}" if module else name
