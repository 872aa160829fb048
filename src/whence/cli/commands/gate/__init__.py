"""`whence gate`, its subcommands and options, and `whence expect`."""
