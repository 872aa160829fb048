select
    days.day,
    coalesce(sum(orders.gross), 0) as revenue,
    count(distinct orders.customer_id) as buyers
from {{ ref('days') }} as days
left join {{ ref('fct_orders') }} as orders
    on orders.ordered_on = days.day and orders.status = 'completed'
group by days.day
