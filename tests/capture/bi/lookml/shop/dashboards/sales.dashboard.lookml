- dashboard: sales
  model: shop_prod
  title: Sales "today" / ü
  description: What was sold
  layout: newspaper
  filters:
  - name: Day
    type: field_filter
    model: shop_prod
    explore: orders
    field: orders.created_date
  elements:
  - name: revenue by country
    title: Revenue
    model: shop_prod
    explore: orders
    type: looker_column
    fields: [users.country, orders.created_month, orders.total, per_buyer]
    pivots: [orders.created_month]
    filters:
      orders.status: done
    sorts: [orders.total desc]
    listen:
      Day: orders.created_date
    dynamic_fields:
    - table_calculation: per_buyer
      label: Per buyer
      expression: if(${orders.total} > 0, ${orders.buyers}, "none; drop")
  - name: sizes
    model: shop_prod
    explore: orders
    type: looker_grid
    fields: [orders.size, orders.is_big, orders.channel, orders.days_delivery, orders.total_done, orders.average_order]
  - name: unknowable
    model: shop_prod
    explore: orders
    type: looker_grid
    fields: [orders.status, orders.chosen, orders.private, orders.circular, orders.nothing]
  - name: text
    type: text
    body_text: "# ${orders.total}"
  - title: Days
    model: shop_prod
    explore: orders
    type: single_value
    fields: [daily.day, daily.revenue]
  - name: top
    model: shop_prod
    explore: top_users
    fields: [top_users.country, top_users.rank, top_users.spent]
  - name: friends
    model: shop_prod
    explore: orders
    fields: [referrers.name, referrers.count]
  - name: merged
    type: looker_line
    merged_queries:
    - model: shop_prod
      explore: returned
      fields: [orders.count, orders.created_date]
    - model: dev
      explore: people
      fields: [people.country, people.count]
  - name: saved
    type: looker_grid
    look: 42
