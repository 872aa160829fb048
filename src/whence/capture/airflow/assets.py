"""Assets as datasets: by their URI, named as Airflow's providers and the other captures name what is there."""

from whence.capture.polling.uris import name_uri
from whence.openlineage.json.wire import Json
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset
from whence_client.events.facets import own_facet


def name_asset(asset: Json, naming: Naming) -> Dataset:
    """The dataset of an asset: a file or table by its URI, any other by its name at the Airflow."""
    uri = str(asset.get("uri") or "")
    return name_uri(uri, naming) or Dataset(naming.instance, f"assets/{asset.get('name') or uri or 'asset'}")


def describe_asset(asset: Json, naming: Naming) -> Dataset:
    """The dataset of an asset, with what Airflow knows of it."""
    named = name_asset(asset, naming)
    members: Json = {"name": str(asset.get("name") or ""), "uri": str(asset.get("uri") or "")}
    if isinstance(extra := asset.get("extra"), dict) and extra:
        members["extra"] = extra
    facets = {"whence_airflowAsset": own_facet("AirflowAssetFacet", **members)}
    return Dataset(named.namespace, named.name, run_facets=facets)
