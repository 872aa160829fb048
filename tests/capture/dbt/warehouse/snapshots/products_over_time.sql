{% snapshot products_over_time %}
{{ config(unique_key='product_id', strategy='check', check_cols=['unit_cost', 'category']) }}
select product_id, category, unit_cost from {{ ref('stg_products') }}
{% endsnapshot %}
