"""A second installation changes nothing, and hooks that are taken back leave every object of MLflow as it was."""

import sys

import mlflow.models.model
import mlflow.pyfunc
import mlflow.sklearn

from whence_client.captures.registry import uninstall_all
from whence_client.captures.session import Session
from whence_client.mlflow import logging_capture, pyfunc_capture, sklearn_capture

OWNERS = (
    mlflow.models.model,
    mlflow.models.model.Model,
    mlflow.pyfunc,
    mlflow.pyfunc.PyFuncModel,
    mlflow.sklearn,
    sys.modules["mlflow.tracking._model_registry.client"].ModelRegistryClient,
)


def members() -> list[dict[str, int]]:
    """The identity of each object of the modules and classes that are hooked."""
    return [{name: id(value) for name, value in vars(owner).items()} for owner in OWNERS]


uninstall_all()
before = members()
session = Session()
captures = (logging_capture, pyfunc_capture, sklearn_capture)
undos = [one.install(session) for one in captures]
hooked = members()
assert hooked != before
again = [one.install(session) for one in captures]
assert members() == hooked
for undo in (*again, *undos):
    undo()
assert members() == before
sys.stdout.write("as it was\n")
