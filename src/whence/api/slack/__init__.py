"""Questions from Slack: a signed slash command, answered with the rights of its sender and channel."""
