"""Serves a new Superset in one process: superset_server.py PORT. Prints a line when it answers."""

import os
import sys

from flask_migrate import upgrade
from superset.app import create_app
from superset.extensions import appbuilder
from werkzeug.serving import make_server

app = create_app()
with app.app_context():
    upgrade(directory=os.path.join(app.root_path, "migrations"))
    appbuilder.add_permissions(update_perms=True)
    appbuilder.sm.sync_role_definitions()
    password = os.environ["SUPERSET_PASSWORD"]
    admin = appbuilder.sm.find_role("Admin")
    appbuilder.sm.add_user("demo", "Whence", "Demo", "demo@example.com", admin, password=password)
server = make_server("127.0.0.1", int(sys.argv[1]), app, threaded=True)
sys.stdout.write("serving\n")
sys.stdout.flush()
server.serve_forever()
