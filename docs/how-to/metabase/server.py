"""A Metabase to try the guide with: it answers what the API of a real one with a card and a dashboard would.

`python server.py 3000` listens on that port of this machine until Ctrl-C.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ADA = {"email": "ada@acme.com"}
SUM = {"source-table": 1, "aggregation": [["sum", ["field", 11, None]]], "breakout": [["field", 12, None]]}
ANSWERS: dict[str, Any] = {
    "/api/database": {
        "data": [{"id": 1, "name": "prod", "engine": "postgres", "details": {"host": "db", "dbname": "shop"}}]
    },
    "/api/database/1/metadata": {
        "id": 1,
        "tables": [
            {
                "id": 1,
                "schema": "sales",
                "name": "orders",
                "fields": [{"id": 11, "name": "amount", "active": True}, {"id": 12, "name": "country", "active": True}],
            }
        ],
    },
    "/api/card": [
        {
            "id": 1,
            "name": "Revenue",
            "database_id": 1,
            "dataset_query": {"type": "query", "database": 1, "query": SUM},
            "result_metadata": [{"name": "country"}, {"name": "sum"}],
            "creator": ADA,
            "updated_at": "2026-11-20T10:00:00Z",
        }
    ],
    "/api/dashboard": [{"id": 1}],
    "/api/dashboard/1": {
        "id": 1,
        "name": "Board",
        "creator": ADA,
        "updated_at": "2026-11-21T10:00:00Z",
        "dashcards": [{"id": 1, "card_id": 1, "series": []}],
    },
}


class Reply(BaseHTTPRequestHandler):
    """Answers a GET with the document at its path, or 404; without an API key, 401."""

    def do_GET(self) -> None:
        """Send the document."""
        found = ANSWERS.get(self.path.partition("?")[0])
        status = 401 if not self.headers.get("X-API-Key") else 200 if found else 404
        body = json.dumps(found if status == 200 else {}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Reply)
    sys.stdout.write(f"listens on http://127.0.0.1:{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
