"""Signatures of packs: the envelope, keys, and the directory that they are kept in."""
