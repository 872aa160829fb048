"""Quality scores of datasets: the weakest of what is known of a dataset and of all that its values are made of."""
