select id, cast(day as date) as day, amount * 100 as cents from {{ ref("raw_orders") }}
