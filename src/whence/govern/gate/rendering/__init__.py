"""A judgement in the forms that people and programs read. Every name in it is foreign text, and is escaped."""
