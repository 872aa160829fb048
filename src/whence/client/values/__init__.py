"""The values in answers: rows and their parts.

Nodes and runs are node ids (`dataset:…`, `run:…`), times ISO 8601 in UTC.
"""
