view: person {
  extension: required
  dimension: id { primary_key: yes }
  dimension: name { sql: ${TABLE}.first || ' ' || ${TABLE}.last ;; }
  dimension: country { sql: ${TABLE}.country_code ;; }
  measure: count { type: count }
}
