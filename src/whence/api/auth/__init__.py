"""Who asks, and whether they may: credentials, sessions, sign-in, permissions, the audit log."""
