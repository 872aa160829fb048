"""Service level objectives of datasets: `slos.yaml`, and what it says about what happened."""
