select 'orders' as stream, date_trunc('month', day) as month, sum(revenue) as revenue
from {{ ref('daily_revenue') }}
group by all
union all
select 'subscriptions', month, sum(monthly_price)
from {{ ref('int_subscription_months') }}
group by all
