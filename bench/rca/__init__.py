"""The benchmark of `whence diagnose`: simulated estates with known causes, baselines, training."""
