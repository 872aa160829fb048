"""Reports about a week: what they state is a pure function of a store, a log, and the week."""
