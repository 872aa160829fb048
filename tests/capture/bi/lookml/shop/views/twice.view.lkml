view: twice { dimension: a {} } }
view: lost { dimension: b {} }
