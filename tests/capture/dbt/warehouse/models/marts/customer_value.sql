with bought as (
    select customer_id, sum(gross - refunded) as net, max(ordered_on) as last_order
    from {{ ref('fct_orders') }}
    group by customer_id
),

subscribed as (
    select customer_id, sum(monthly_price) as paid from {{ ref('int_subscription_months') }} group by customer_id
)

select
    customers.customer_id,
    coalesce(bought.net, 0) + coalesce(subscribed.paid, 0) as lifetime_value,
    bought.last_order,
    ntile(4) over (order by bought.net desc) as quartile
from {{ ref('dim_customers') }} as customers
left join bought on customers.customer_id = bought.customer_id
left join subscribed on customers.customer_id = subscribed.customer_id
