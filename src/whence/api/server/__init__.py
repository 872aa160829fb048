"""The application: all routes put together, its description, its connections and its process."""
