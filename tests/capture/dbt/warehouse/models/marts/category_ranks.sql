with sold as (
    select category, sum(gross) as gross from {{ ref('fct_order_items') }} where status <> 'cancelled' group by category
)

select category, gross, rank() over (order by gross desc) as place, gross / sum(gross) over () as share
from sold
