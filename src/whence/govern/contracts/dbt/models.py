"""The models in a YAML file of dbt, each version as one: what is written of them, with the place of each part."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from whence.govern.yaml_values import Path, Values

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A mapping in a file, and its path there."""

    value: Json
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVersion:
    """A model, or one of its versions. `name`: `orders`, or `orders.v2`; `table`: by default of its name in SQL.

    `config`: the version's own members win over those of the model.
    """

    name: str
    table: str
    own: Located
    model: Json
    config: Json
    columns: tuple[Located, ...] = ()
    constraints: tuple[Located, ...] = ()

    @property
    def contract(self) -> Json:
        """The member `contract` of its configuration."""
        found = self.config.get("contract")
        return found if isinstance(found, dict) else {}

    @property
    def is_enforced(self) -> bool:
        """Whether dbt enforces its contract."""
        return self.contract.get("enforced") is True

    def stated(self, key: str) -> Any:
        """A property that may be written of the version, of the model, or in the configuration."""
        return self.own.value.get(key, self.model.get(key, self.config.get(key)))


def is_dbt_file(root: Any) -> bool:
    """Whether a document has the form of dbt's property files: a list of models, and no version of another standard."""
    return isinstance(root, dict) and isinstance(root.get("models"), list) and "apiVersion" not in root


def find_models(values: Values) -> Iterator[ModelVersion]:
    """The models of a file, a model with versions as one each."""
    for index, model in enumerate(values.root["models"]):
        if isinstance(model, dict) and isinstance(model.get("name"), str):
            yield from _versions(model, ("models", index))


def _versions(model: Json, path: Path) -> Iterator[ModelVersion]:
    versions = [one for one in located(model, path, "versions") if one.value.get("v") is not None]
    if not versions:
        own = Located(value=model, path=path)
        yield _version(model["name"], model["name"], own, model, located(model, path, "columns"))
    for one in versions:
        v = one.value["v"]
        columns = tuple(_columns_of_version(one, located(model, path, "columns")))
        inherited = located(model, path, "constraints")
        yield _version(f"{model['name']}.v{v}", f"{model['name']}_v{v}", one, model, columns, inherited)


def _version(
    name: str,
    table: str,
    own: Located,
    model: Json,
    columns: tuple[Located, ...],
    constraints: tuple[Located, ...] = (),
) -> ModelVersion:
    config = {**_mapping(model.get("config")), **_mapping(own.value.get("config"))}
    alias = config.get("alias")
    return ModelVersion(
        name=name,
        table=alias if isinstance(alias, str) and alias else table,
        own=own,
        model=model,
        config=config,
        columns=columns,
        constraints=located(own.value, own.path, "constraints") or constraints,
    )


def _columns_of_version(version: Located, inherited: tuple[Located, ...]) -> Iterator[Located]:
    """The columns of a version: its own, and those of the model that it includes, which are all by default."""
    listed = located(version.value, version.path, "columns")
    own = {str(one.value["name"]).casefold(): one for one in listed if "name" in one.value}
    inclusion = next((one.value for one in listed if "include" in one.value), {} if listed else {"include": "all"})
    included, excluded = inclusion.get("include", ()), inclusion.get("exclude") or ()
    for one in inherited:
        name = str(one.value.get("name"))
        if name.casefold() not in own and name not in excluded and (included in ("all", "*") or name in included):
            yield one
    yield from own.values()


def located(value: Json, path: Path, key: str) -> tuple[Located, ...]:
    """The mappings in a list, with their paths."""
    listed = value.get(key)
    return tuple(
        Located(value=one, path=(*path, key, index))
        for index, one in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(one, dict)
    )


def _mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
