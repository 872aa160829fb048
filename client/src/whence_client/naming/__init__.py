"""Names of datasets by OpenLineage's naming specification: a capture passes system and parts, never a composed text.

The names are normal forms: `whence.openlineage.names` leaves them as they are.
"""

from whence_client.naming.files import name_file
from whence_client.naming.jdbc import name_table_of_jdbc
from whence_client.naming.tables import name_table, name_table_of_url, name_topic
from whence_client.naming.tracking import name_tracking_server

__all__ = ["name_file", "name_table", "name_table_of_jdbc", "name_table_of_url", "name_topic", "name_tracking_server"]
