insert into gold.features (user_key, customers_in_city, risk_code)
select email_hash, count(*) over (partition by city), shop.risk(contact)
from staging.users;
