"""The complete application: all routes, the OpenAPI document, connections and the server process."""
