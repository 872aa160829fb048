- dashboard: sales
  model: shop_staging
  title: Sales (staging)
  elements:
  - name: revenue
    explore: orders
    model: shop_staging
    dimensions: [users.country]
    measures: [orders.total]
    sorts: [orders.total]
- dashboard: base
  extension: required
  model: shop_staging
  elements:
  - name: revenue
    explore: orders
    model: shop_staging
    fields: [orders.status]
- dashboard: child
  extends: base
  elements:
  - name: revenue
    fields: [orders.id]
  - name: nowhere
    explore: users
    model: nowhere
    fields: [users.name]
- dashboard: orphan
  extends: missing
  elements: []
