"""Authentication and authorisation: credentials, sessions, sign-in, permissions, the audit log."""
