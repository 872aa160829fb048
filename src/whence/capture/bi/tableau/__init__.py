"""Workbooks and data sources of Tableau, as its files have them."""
