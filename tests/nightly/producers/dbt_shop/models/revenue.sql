{{ config(materialized='table') }}
select c.country, sum(p.cents) as total from {{ ref('paid') }} p join {{ ref('raw_customers') }} c on c.id = p.customer_id group by c.country
