"""Facts about the process that a capture runs in: its settings, the run that started it, the commit of its code."""
