"""Executing two versions of SQL on generated databases, in search of a difference between them."""
