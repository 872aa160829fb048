-- What other systems load into the warehouse before dbt runs.
create schema raw;
create table raw.customers as
select * from (values
    (1, 'ada@example.org', 'Ada', 'de', timestamp '2026-01-03 10:00', timestamp '2026-03-01 10:00'),
    (2, 'ben@example.org', 'Ben', 'fr', timestamp '2026-01-05 11:00', timestamp '2026-03-02 10:00'),
    (3, 'cle@example.org', 'Cleo', 'de', timestamp '2026-02-01 12:00', timestamp '2026-03-03 10:00')
) as t (id, email, full_name, country_code, created_at, updated_at);
create table raw.subscriptions as
select * from (values
    (10, 1, 'espresso', date '2026-01-10', null::date, 1900),
    (11, 2, 'filter', date '2026-02-10', date '2026-04-10', 1500)
) as t (id, customer_id, plan, started_on, ended_on, monthly_cents);
create table raw.orders as
select * from (values
    (100, 1, 'completed', timestamp '2026-02-01 09:00', 'EUR'),
    (101, 2, 'completed', timestamp '2026-02-02 09:30', 'CHF'),
    (102, 1, 'cancelled', timestamp '2026-02-03 10:00', 'EUR')
) as t (id, customer_id, status, ordered_at, currency);
create table raw.order_items as
select * from (values (100, 1, 2, 1200), (100, 2, 1, 900), (101, 1, 1, 1200), (102, 2, 5, 900)
) as t (order_id, product_id, quantity, unit_price_cents);
create table raw.products as
select * from (values (1, 'ESP-1', 'Espresso No 1', 1, 50, 500), (2, 'FIL-1', 'Filter No 1', 2, 51, 400)
) as t (id, sku, name, category_id, supplier_id, cost_cents);
create table raw.suppliers as
select * from (values (50, 'Alto', 'co'), (51, 'Bajo', 'et')) as t (id, name, country_code);
create table raw.payments as
select * from (values
    (1, 100, 'card', 3000, timestamp '2026-02-01 09:01'), (2, 100, 'voucher', 300, timestamp '2026-02-01 09:02'),
    (3, 101, 'transfer', 1200, timestamp '2026-02-04 08:00')
) as t (id, order_id, method, amount_cents, paid_at);
create table raw.refunds as
select * from (values (1, 101, 200, 'late', timestamp '2026-02-10 08:00')
) as t (id, order_id, amount_cents, reason, refunded_at);
create table raw.shipments as
select * from (values
    (1, 100, 'post', timestamp '2026-02-01 15:00', timestamp '2026-02-03 11:00'),
    (2, 101, 'courier', timestamp '2026-02-05 15:00', timestamp '2026-02-06 11:00')
) as t (id, order_id, carrier, shipped_at, delivered_at);
create table raw.page_views as
select * from (values
    (1, 'v1', 1, '/', timestamp '2026-02-01 08:50', 'search'), (2, 'v1', 1, '/espresso', timestamp '2026-02-01 08:52', 'search'),
    (3, 'v2', 2, '/', timestamp '2026-02-02 09:00', 'mail')
) as t (view_id, visitor_id, customer_id, url, viewed_at, channel);
create table raw.tickets as
select * from (values
    (1, 2, timestamp '2026-02-07 08:00', timestamp '2026-02-08 08:00', 'high'),
    (2, 3, timestamp '2026-02-09 08:00', null::timestamp, 'low')
) as t (id, customer_id, opened_at, closed_at, priority);
create table raw.ad_spend as
select * from (values (date '2026-02-01', 'search', 1500), (date '2026-02-02', 'mail', 200)
) as t (day, channel, spend_cents);
