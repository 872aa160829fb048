with products as (
    select * from {{ source('raw', 'products') }}
),

categories as (
    select * from {{ ref('categories') }}
)

select
    products.id as product_id,
    products.sku,
    products.name as product_name,
    categories.name as category,
    products.supplier_id,
    {{ euros('products.cost_cents') }} as unit_cost
from products
left join categories on products.category_id = categories.id
