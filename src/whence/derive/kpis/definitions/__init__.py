"""The definition of each KPI, as one SQL query over the published tables. No Python belongs here."""
