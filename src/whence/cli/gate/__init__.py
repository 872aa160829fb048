"""The gate's effects: Git, the production graph, and the places to which its verdict goes."""
