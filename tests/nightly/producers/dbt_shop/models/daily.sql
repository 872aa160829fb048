{{ config(materialized='incremental', unique_key='day') }}
select day, max(cents) as largest from {{ ref('paid') }}
{% if is_incremental() %} where day >= (select max(day) from {{ this }}) {% endif %}
group by day
