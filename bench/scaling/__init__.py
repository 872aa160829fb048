"""How the pipeline scales: CPU of an event by stage with several executors, and what follows for more cores."""
