"""The blast radius of every node: how many datasets, fields, jobs, dashboards and models are downstream of it."""
