"""The namespace of an MLflow tracking server: of its models, and of data that only it can name.

>>> name_tracking_server("https://ada:pw@Tracking.example/ml/")
'mlflow://tracking.example/ml'
>>> name_tracking_server("sqlite:////data/mlflow.db")
'mlflow:///data/mlflow.db'
"""

from __future__ import annotations

from urllib.parse import urlsplit

from whence_client.naming.files import name_file


def name_tracking_server(uri: str) -> str:
    """The namespace for a tracking URI: of a server its address without credentials, of a store its file or folder."""
    parsed = urlsplit(uri)
    if parsed.scheme in ("http", "https"):
        return f"mlflow://{parsed.netloc.rpartition('@')[2].lower()}{parsed.path.rstrip('/')}"
    if parsed.scheme == "sqlite":
        return f"mlflow://{name_file(parsed.path[1:] or 'mlflow.db').name}"
    if parsed.netloc and parsed.scheme != "file":
        return f"mlflow://{parsed.netloc.rpartition('@')[2].lower()}{parsed.path.rstrip('/')}"
    return f"mlflow://{name_file(uri or 'mlruns').name}"
