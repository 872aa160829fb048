"""Scikit-learn: which columns each feature is made of, which features a model was fitted on, and what it predicted."""

from whence_client.sklearn.hooks import capture

__all__ = ["capture"]
