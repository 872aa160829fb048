- view: ancient
  sql_table_name: x
