"""Warehouses that are asked for the queries that they ran: the pollers of Snowflake, BigQuery and Databricks."""
