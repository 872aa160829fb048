"""Which columns flow into which, as sets: the algebra of transformations, relations, confidence."""
