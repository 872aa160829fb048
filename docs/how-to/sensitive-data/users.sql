insert into staging.users (id, email_hash, contact, city)
select id, md5(email), lower(email), city
from crm.customers
where deleted_at is null;
