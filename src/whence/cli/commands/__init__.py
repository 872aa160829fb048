"""The commands: each parses its arguments, calls one function, and hands the result on."""
