"""LookML projects: the dashboards in their files, down to the columns that the views are made of."""
