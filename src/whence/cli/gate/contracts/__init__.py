"""The effects of `whence contract`: files, the readers that production knows, and the events that apply a contract."""
