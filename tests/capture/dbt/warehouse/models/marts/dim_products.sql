select
    products.product_id,
    products.sku,
    products.product_name,
    products.category,
    suppliers.supplier_name,
    'EUR' as currency
from {{ ref('stg_products') }} as products
left join {{ ref('dim_suppliers') }} as suppliers using (supplier_id)
