{% snapshot customers_snapshot %}
{{ config(target_schema='main', unique_key='id', strategy='check', check_cols=['country']) }}
select id, name, country from {{ ref('raw_customers') }}
{% endsnapshot %}
