"""Reports as Markdown, HTML, mail and messages of Slack. Pure."""
