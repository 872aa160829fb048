"""Kubeflow Pipelines, read from compiled pipelines and the files that its local runner leaves of each run."""
