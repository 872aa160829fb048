"""The likely causes of a wrong dataset or column: anomalies, features, ranking, evidence. Pure; over plain values."""
