- dashboard: x
  elements: [
