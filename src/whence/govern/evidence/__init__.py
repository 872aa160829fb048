"""Evidence packs: files that prove the lineage of a node to somebody without this Whence, and their verification."""
