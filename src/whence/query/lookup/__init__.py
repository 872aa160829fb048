"""Lookup of nodes by typed text: resolving, searching, filtering, describing."""
