"""Names of datasets and jobs in their normal form, and the access tokens that names may contain."""
