view: orders { sql_table_name: wrong ;; }
