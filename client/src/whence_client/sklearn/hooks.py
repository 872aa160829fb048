"""The capture of scikit-learn: hooks around the methods of all estimators, and where models are saved and loaded.

Estimators are classes of many modules, also of the user's: each is hooked when it is defined. Only the outermost call
counts. What it computed is read off the fitted estimator (`steps`); no value of the data is looked at.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Iterable
from typing import Any, Callable

from whence_client.captures.contract import ATTACH, Findings, Undo, Versions, check_package
from whence_client.captures.naming import Naming
from whence_client.captures.patches import Patches, hook_once
from whence_client.captures.replacements import pass_over
from whence_client.captures.session import Session
from whence_client.events.facets import Event
from whence_client.frames.memory import memory_of
from whence_client.frames.writes import FrameWrite, write_event
from whence_client.sklearn.estimators import Estimators
from whence_client.sklearn.files import hook_files

_FITS = ("fit", "partial_fit")
_OUTPUTS = ("transform", "predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples")
_BOTH = ("fit_transform", "fit_predict")
METHODS = (*_FITS, *_OUTPUTS, *_BOTH, "inverse_transform")


class SklearnCapture:
    """Lineage of features, models and predictions of scikit-learn, column by column."""

    name = "sklearn"
    kind = ATTACH
    versions = Versions("1.6.0", "1.9.1")

    def check(self) -> Findings:
        """Whether scikit-learn is there, and of a release that is known."""
        return check_package("scikit-learn", self.versions)

    def translate(self, record: FrameWrite, naming: Naming) -> Iterable[Event]:
        """The event of one model that was saved, or whose predictions were written."""
        return (write_event(record, naming),)

    def install(self, session: Session) -> Undo:
        """Hook scikit-learn, which the job has imported."""
        return hook_once(sys.modules["sklearn"], lambda: _Hooks(self, session).install())


class _Hooks:
    """The hooks of one process."""

    def __init__(self, capture: SklearnCapture, session: Session) -> None:
        self._capture, self._session = capture, session
        self._guard = session.guard(capture.name)
        self._patches = Patches(self._guard)
        self._calls = memory_of(session).calls
        self._estimators = Estimators(session, self._emit)
        self._hooked: weakref.WeakSet[type] = weakref.WeakSet()

    def __reduce__(self) -> tuple[type, tuple[()]]:
        """False: a class of the job's script is pickled with its methods, for processes that may lack Whence."""
        return bool, ()

    def install(self) -> Undo:
        """Put the hooks in place."""
        base = sys.modules["sklearn.base"]
        self._hook_definitions(base)
        self._hook_tree(base.BaseEstimator)
        hook_files(self._patches, self._calls, self._estimators)
        return self._patches.undo

    def _emit(self, write: FrameWrite) -> None:
        for event in self._capture.translate(write, self._session.naming()):
            self._session.emit(event, capture=self._capture.name)

    def _hook_definitions(self, base: Any) -> None:
        """Hook each class that is defined from now on, after scikit-learn has put its own wrappers around it."""
        outputs = _owner_of(base.TransformerMixin, "__init_subclass__")
        requests = _owner_of(base.BaseEstimator, "__init_subclass__")

        def hook_if(is_last: Callable[[type], bool]) -> Callable[[Any], Any]:
            def make(original: Any) -> Any:
                @functools.wraps(original)
                def defined(cls: type, **named: Any) -> None:
                    original(cls, **named)
                    if is_last(cls):
                        self._guard.run("define", self._hook_class, cls)

                return defined

            return make

        self._patches.replace(outputs, "__init_subclass__", hook_if(lambda cls: True))
        self._patches.replace(requests, "__init_subclass__", hook_if(lambda cls: not issubclass(cls, outputs)))

    def _hook_tree(self, owner: type) -> None:
        one: type
        for one in owner.__subclasses__():
            self._hook_class(one)
            self._hook_tree(one)

    def _hook_class(self, owner: type) -> None:
        if owner in self._hooked:
            return
        self._hooked.add(owner)
        for base in owner.__mro__[1:]:
            if base is not object and any(name in vars(base) for name in METHODS):
                self._hook_class(base)
        for name in METHODS:
            if name in vars(owner) and _is_callable(vars(owner)[name]):
                self._patches.replace(owner, name, functools.partial(self._make, name))

    def _make(self, name: str, original: Any) -> Any:
        """The hooked method. Methods that are there only under a condition stay so."""
        check = getattr(original, "check", None)
        if check is not None and hasattr(original, "fn"):
            return type(original)(pass_over(self._make(name, original.fn), original.fn), check, original.attribute_name)

        @functools.wraps(original)
        def hooked(estimator: Any, *args: Any, **named: Any) -> Any:
            if not self or getattr(self._calls, "call", False):
                return original(estimator, *args, **named)
            self._calls.call = True
            try:
                result = original(estimator, *args, **named)
            finally:
                self._calls.call = False
            self._guard.run(name, self._observe, name, estimator, args, named, result)
            return result

        return hooked

    def _observe(self, name: str, estimator: Any, args: tuple[Any, ...], named: dict[str, Any], result: Any) -> None:
        if name in (*_FITS, *_BOTH):
            self._estimators.on_fit(estimator, args, named, goes_on=name == "partial_fit")
        if name in (*_OUTPUTS, *_BOTH):
            self._estimators.on_output(estimator, _is_transform(name), args, named, result)
        if name == "inverse_transform":
            self._estimators.on_inverse(estimator, args, named, result)


def _is_transform(name: str) -> bool:
    return name in ("transform", "fit_transform")


def _is_callable(member: Any) -> bool:
    return callable(member) or hasattr(member, "fn")


def _owner_of(cls: type, name: str) -> type:
    """The class in the line of a class that has the method itself."""
    return next(one for one in cls.__mro__ if name in vars(one))


capture = SklearnCapture()
