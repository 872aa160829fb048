"""Statements of Flink SQL: each becomes a compiled plan. tests/capture/flink/edges.txt was written from these texts."""

CREATE = """
CREATE TABLE orders (
  id BIGINT, customer BIGINT, amount DOUBLE, `country code` STRING, ts TIMESTAMP(3),
  doubled AS amount * 2, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '/lake/orders ü', 'format' = 'csv');
CREATE TABLE users (id BIGINT, name STRING, age INT, address ROW<city STRING, zip STRING>)
WITH ('connector' = 'filesystem', 'path' = 's3://KEY:hush-4711@lake/users', 'format' = 'json');
CREATE TABLE totals (who BIGINT, gross DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '/lake/totals', 'format' = 'debezium-json');
CREATE TABLE texts (a STRING, b STRING)
WITH ('connector' = 'filesystem', 'path' = 'hdfs://staging:8020/lake/texts; drop', 'format' = 'debezium-json');
CREATE TABLE windows (s TIMESTAMP(3), e TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '/lake/windows', 'format' = 'json');
CREATE TABLE drops (who BIGINT, gross DOUBLE) WITH ('connector' = 'blackhole');
CREATE TABLE made (id BIGINT, amount DOUBLE) WITH ('connector' = 'datagen')
"""

STATEMENTS = {
    "aggregate": "INSERT INTO totals SELECT customer, SUM(amount) * 1.2 FROM orders WHERE amount > 0 GROUP BY customer",
    "join": "INSERT INTO texts SELECT u.name, CAST(o.amount AS STRING) FROM orders o JOIN users u ON o.customer = u.id"
    " WHERE u.age > 17",
    "case": "INSERT INTO texts SELECT CASE WHEN amount > 10 THEN `country code` ELSE 'x' END, UPPER(`country code`)"
    " FROM orders",
    "union": "INSERT INTO totals SELECT id, amount FROM orders UNION ALL SELECT id, CAST(age AS DOUBLE) FROM users",
    "tumble": "INSERT INTO windows SELECT window_start, window_end, COUNT(customer)"
    " FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end",
    "rank": "INSERT INTO totals SELECT customer, amount FROM (SELECT *, ROW_NUMBER() OVER"
    " (PARTITION BY customer ORDER BY amount DESC) AS n FROM orders) WHERE n <= 3",
    "deduplicate": "INSERT INTO totals SELECT customer, amount FROM (SELECT *, ROW_NUMBER() OVER"
    " (PARTITION BY customer ORDER BY ts DESC) AS n FROM orders) WHERE n = 1",
    "over": "INSERT INTO totals SELECT customer, SUM(amount) OVER (PARTITION BY customer ORDER BY ts) FROM orders",
    "nested": "INSERT INTO texts SELECT address.city, address.zip FROM users",
    "semi": "INSERT INTO totals SELECT customer, amount FROM orders WHERE customer IN"
    " (SELECT id FROM users WHERE age > 3)",
    "left": "INSERT INTO texts SELECT COALESCE(u.name, o.`country code`), 'k' FROM orders o"
    " LEFT JOIN users u ON o.customer = u.id",
    "interval": "INSERT INTO totals SELECT a.customer, b.amount FROM orders a, orders b WHERE a.id = b.customer"
    " AND a.ts BETWEEN b.ts - INTERVAL '1' HOUR AND b.ts",
    "limit": "INSERT INTO totals SELECT customer, amount FROM orders ORDER BY amount DESC LIMIT 10",
    "distinct": "INSERT INTO totals SELECT DISTINCT customer, amount FROM orders",
    "values": "INSERT INTO totals VALUES (1, 2.0)",
    "having": "INSERT INTO totals SELECT customer, MAX(amount) FROM orders GROUP BY customer HAVING SUM(id) > 2",
    "computed": "INSERT INTO totals SELECT id, doubled FROM orders",
    "filtered": "INSERT INTO totals SELECT customer, SUM(amount) FILTER (WHERE `country code` = 'DE')"
    " FROM orders GROUP BY customer",
    "sets": "INSERT INTO totals SELECT customer, SUM(amount) FROM orders"
    " GROUP BY GROUPING SETS ((customer), (customer, `country code`))",
    "generated": "INSERT INTO totals SELECT id, amount FROM made",
    "dropped": "INSERT INTO drops SELECT id, amount FROM orders",
    "several": "EXECUTE STATEMENT SET BEGIN INSERT INTO totals SELECT id, amount FROM orders;"
    " INSERT INTO texts SELECT name, name FROM users; END",
}
