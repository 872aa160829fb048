select day, sum(cents) as total from {{ ref("orders") }} group by day
