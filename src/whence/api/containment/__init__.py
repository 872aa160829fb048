"""Routes of containment: the steps of acts, recorded before and after each."""
