select
    revenue.month,
    revenue.stream,
    revenue.revenue,
    (select count(*) from {{ ref('dim_customers') }}) as customers,
    (select max(margin) from {{ ref('fct_orders') }} as orders
     where date_trunc('month', orders.ordered_on) = revenue.month) as best_margin
from {{ ref('monthly_revenue') }} as revenue
