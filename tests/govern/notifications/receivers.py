"""A file with a receiver of each kind."""

FILE = """\
version: 1
url: https://whence.example.com
receivers:
  - name: pager
    pagerduty: {routing_key: {env: TEST_PAGERDUTY_KEY}}
  - name: channel
    slack: {channel: C024BE91L, token: {env: TEST_SLACK_TOKEN}}
  - name: alertmanager
    alertmanager: {urls: ["http://127.0.0.1:9093"]}
  - name: hook
    webhook: {url: "https://hooks.example.com/T0/secret-path", secret: {env: TEST_WEBHOOK_SECRET}}
  - name: mail
    email:
      server: smtp.example.com:587
      from: whence@example.com
      to: [orders@example.com, data@example.com]
      username: whence
      password: {file: /run/secrets/smtp}
  - name: tickets
    github: {repository: shop/pipeline, token: {env: TEST_GITHUB_TOKEN}, labels: [incident, data]}
route:
  receiver: channel
  routes:
    - match: {namespace: "*staging*"}
      receiver: hook
    - match: {severity: page}
      continue: true
      receiver: [pager, alertmanager]
      routes:
        - match: {owner: [team:finance, team:billing], tier: ["1", "2"]}
          receiver: mail
    - match: {severity: ticket}
      receiver: tickets
"""
