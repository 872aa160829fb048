"""BI tools: charts and dashboards as datasets, whose columns are made of the tables' columns that they show."""
