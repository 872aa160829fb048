view: broken {
  dimension: a { sql: ${TABLE}.a
}
