"""The demo: a real PySpark pipeline that predicts customer churn, traced by the official listener."""
