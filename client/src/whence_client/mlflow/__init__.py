"""Capture of MLflow models in the job's own process, and the context that its runs get."""

from whence_client.mlflow.hooks import MlflowCapture, logging_capture, pyfunc_capture, sklearn_capture

__all__ = ["MlflowCapture", "logging_capture", "pyfunc_capture", "sklearn_capture"]
