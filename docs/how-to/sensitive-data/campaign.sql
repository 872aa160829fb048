insert into marketing.recipients (user_key, address, domain)
select email_hash, contact, split_part(contact, '@', 2)
from staging.users;
