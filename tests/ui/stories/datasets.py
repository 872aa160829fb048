"""The datasets of the story, and their schemas."""

from whence.model.names import DatasetName

CRM, LAKE, WAREHOUSE = "postgres://crm:5432", "s3://lake", "snowflake://acme"

CUSTOMERS = DatasetName(CRM, "crm.public.customers")
PAYMENTS = DatasetName(CRM, "crm.public.payments")
USAGE = DatasetName(LAKE, "raw/usage_logs")
TICKETS = DatasetName(LAKE, "raw/support_tickets")
CLEAN = DatasetName(WAREHOUSE, "churn.silver.customers")
SESSIONS = DatasetName(WAREHOUSE, "churn.silver.sessions")
FEATURES = DatasetName(WAREHOUSE, "churn.gold.features")
MODEL = DatasetName(LAKE, "models/churn")
PREDICTIONS = DatasetName(WAREHOUSE, "churn.gold.predictions")
DASHBOARD = DatasetName("looker://acme", "Customer health")
DATES = DatasetName(WAREHOUSE, "shared.dim_date")
CHARGES = DatasetName(WAREHOUSE, "revenue.silver.charges")
REVENUE = DatasetName("looker://acme", "Revenue today")
STRIPE = DatasetName("https://stripe", "charges")

ENVIRONMENTS = ("prod", "staging", "dev")
TWINS = tuple(DatasetName(f"snowflake://{one}", "DWH.MART.ORDERS") for one in ENVIRONMENTS)
"""The same table in three accounts."""
OVERVIEW = DatasetName("looker://acme", "Orders overview")
_CLUSTER = "postgres://analytics-platform-{}-eu-west-1.cluster-c9x8y7z6.rds.internal.example.com:5432"
LONG_TWINS = tuple(DatasetName(_CLUSTER.format(one), "shop.public.orders") for one in ("production", "staging"))
"""The same table on two hosts whose names begin and end alike."""
HOSTILE = DatasetName(
    "s3://<img src=x onerror=alert(1)>-staging",
    "marts/fct_marketing_attribution_by_channel_and_campaign_v2_\u202egnirts\u202c_\U0001f4a5_" + "x" * 160,
)
"""A name of 240 characters that wants to be markup, and to be read backwards."""
PARTITION = DatasetName("s3://lake-production", "marts/attribution_by_channel_v2/date=2026-11-23/hour=07")

SCHEMAS: dict[DatasetName, dict[str, str]] = {
    CUSTOMERS: {"id": "bigint", "email": "text", "country": "text", "signed_up_at": "timestamp", "plan": "text"},
    PAYMENTS: {"id": "bigint", "customer_id": "bigint", "amount": "numeric", "paid_at": "timestamp"},
    USAGE: {"user_id": "bigint", "last_login": "timestamp", "minutes": "double", "device": "string"},
    TICKETS: {"ticket_id": "bigint", "customer_id": "bigint", "severity": "int", "opened_at": "timestamp"},
    CLEAN: {"customer_id": "bigint", "email_hash": "string", "country": "string", "tenure_days": "int"},
    SESSIONS: {"customer_id": "bigint", "minutes_30d": "double", "days_since_login": "int"},
    FEATURES: {
        "customer_id": "bigint",
        "tenure_days": "int",
        "minutes_30d": "double",
        "days_since_login": "int",
        "revenue_90d": "double",
        "tickets_90d": "int",
        **{f"signal_{n:02}": "double" for n in range(54)},
    },
    PREDICTIONS: {"customer_id": "bigint", "churn_probability": "double", "scored_at": "timestamp"},
    DASHBOARD: {"customers_at_risk": "int", "revenue_at_risk": "double"},
    CHARGES: {"charge_id": "string", "amount": "numeric", "charged_at": "timestamp"},
    REVENUE: {"revenue": "numeric"},
    **{twin: {"order_id": "bigint", "total": "numeric"} for twin in TWINS},
    DATES: {"day": "date", "week": "int", "is_holiday": "boolean"},
}
