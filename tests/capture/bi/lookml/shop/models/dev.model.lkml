connection: "@{dev_connection}"
include: "../views/users.view"

explore: people { from: users sql_table_name: people ;; }
