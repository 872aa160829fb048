view: latin { dimension: é {} }
