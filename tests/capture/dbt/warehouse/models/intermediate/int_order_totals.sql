with margins as (
    select order_id, sum(margin) as margin from {{ ref('int_order_margins') }} group by order_id
)

select
    priced.order_id,
    count(*) as items,
    sum(priced.gross) as gross,
    max(margins.margin) as margin
from {{ ref('int_items_priced') }} as priced
join margins on priced.order_id = margins.order_id
group by priced.order_id
