"""The files of each system: exports of its tags, and plans that its own client applies."""
