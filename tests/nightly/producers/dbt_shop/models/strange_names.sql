{{ config(materialized='table', alias='Größe; drop: 1') }}
select name as "Preis €" from {{ ref('raw_customers') }}
