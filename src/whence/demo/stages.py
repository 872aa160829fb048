"""The computations of the demo's pipeline: each stage is a pure function over data frames."""

from typing import Literal

from pyspark.ml.classification import LogisticRegression, LogisticRegressionModel
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.functions import vector_to_array
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from whence.demo.raw import AS_OF

Variant = Literal["first", "altered"]

FEATURES = (
    "tenure",
    "monthly_charges",
    "is_monthly",
    "days_since_last_login",
    "avg_session_minutes",
    "support_tickets",
)
LABEL = "churned"

_NEVER = 365


def bronze(raw: DataFrame) -> DataFrame:
    """The raw rows as they are, with the day of ingestion."""
    return raw.withColumn("ingested_on", F.lit(AS_OF.isoformat()))


def silver_customers(crm: DataFrame) -> DataFrame:
    """One typed row per customer; the e-mail address only as a hash."""
    once = crm.where(F.col("customer_id").isNotNull()).dropDuplicates(["customer_id"])
    return once.select(
        F.col("customer_id").cast("int").alias("customer_id"),
        F.sha2(F.lower(F.trim("email")), 256).alias("email_hash"),
        F.to_date("signup_date").alias("signup_date"),
        F.lower("contract_type").alias("contract_type"),
        F.col("tenure").cast("int").alias("tenure"),
        F.col("monthly_charges").cast("double").alias("monthly_charges"),
        (F.col("churned") == "Yes").cast("double").alias("churned"),
    )


def silver_sessions(usage: DataFrame) -> DataFrame:
    """Typed sessions, without those whose clock went backwards."""
    minutes = F.col("session_minutes").cast("double")
    return usage.where(minutes > 0).select(
        F.col("customer_id").cast("int").alias("customer_id"),
        F.to_timestamp("last_login").alias("last_login"),
        minutes.alias("session_minutes"),
    )


def silver_tickets(tickets: DataFrame) -> DataFrame:
    """Typed tickets, with a priority that follows from the severity."""
    urgent = F.lower("severity").isin("high", "critical")
    return tickets.select(
        F.col("ticket_id").cast("int").alias("ticket_id"),
        F.col("customer_id").cast("int").alias("customer_id"),
        F.to_date("opened_at").alias("opened_at"),
        F.when(urgent, "urgent").otherwise("normal").alias("priority"),
    )


def features(customers: DataFrame, sessions: DataFrame, tickets: DataFrame, variant: Variant) -> DataFrame:
    """One row of features per customer. `greatest` and `least` skip nulls, so they also fill in missing rows.

    The altered variant joins only urgent tickets, drops customers without one, and counts a ticket as activity.
    """
    altered = variant == "altered"
    usage = sessions.groupBy("customer_id").agg(
        F.max("last_login").alias("last_login"), F.avg("session_minutes").alias("avg_session_minutes")
    )
    support = tickets.where(F.col("priority") == "urgent") if altered else tickets
    support = support.groupBy("customer_id").agg(
        F.count("ticket_id").alias("support_tickets"), F.max("opened_at").alias("last_ticket")
    )
    joined = customers.join(usage, "customer_id", "left").join(support, "customer_id", "inner" if altered else "left")
    last_seen = F.greatest(F.to_date("last_login"), "last_ticket") if altered else F.to_date("last_login")
    return joined.select(
        "customer_id",
        "tenure",
        "monthly_charges",
        (F.col("contract_type") == "month-to-month").cast("double").alias("is_monthly"),
        F.least(F.datediff(F.lit(AS_OF), last_seen), F.lit(_NEVER)).alias("days_since_last_login"),
        F.greatest("avg_session_minutes", F.lit(0.0)).alias("avg_session_minutes"),
        F.greatest("support_tickets", F.lit(0)).alias("support_tickets"),
        "churned",
    )


def train(rows: DataFrame) -> LogisticRegressionModel:
    """A logistic regression of the label on the features."""
    regression = LogisticRegression(featuresCol="features", labelCol=LABEL, maxIter=10)
    model: LogisticRegressionModel = regression.fit(_assembled(rows))
    return model


def predictions(model: LogisticRegressionModel, rows: DataFrame) -> DataFrame:
    """The probability of churn of each customer, and the predicted label."""
    return model.transform(_assembled(rows)).select(
        "customer_id",
        vector_to_array(F.col("probability"))[1].alias("churn_probability"),
        F.col("prediction").cast("int").alias("churn_label"),
    )


def _assembled(rows: DataFrame) -> DataFrame:
    return VectorAssembler(inputCols=list(FEATURES), outputCol="features").transform(rows)
