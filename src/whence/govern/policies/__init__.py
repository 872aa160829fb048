"""Policies: what must hold of every node, by what it is and by the sensitive data in it."""
