"""Events per second through the pipeline: a log of realistic events, derived by the stream into an empty store."""
