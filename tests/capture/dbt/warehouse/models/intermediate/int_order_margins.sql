{{ config(materialized='ephemeral') }}
select
    order_id,
    gross - cost as margin
from {{ ref('int_items_priced') }}
