"""Encryption of the store's texts: master key and data key, the sealed content, and changing the master key."""
