"""Settings of the demo's Superset: its own database, a key that is made for each run, and no limits of requests."""

import os

SECRET_KEY = os.environ["SUPERSET_SECRET_KEY"]
SQLALCHEMY_DATABASE_URI = f"sqlite:///{os.environ['SUPERSET_HOME']}/superset.db"
PREVENT_UNSAFE_DB_CONNECTIONS = False
RATELIMIT_ENABLED = False
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
