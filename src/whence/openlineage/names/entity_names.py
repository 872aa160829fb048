"""The names of datasets and jobs in events: read from `namespace` and `name`, and normalised."""

from whence.errors import EventError
from whence.model.names import DatasetName, JobName
from whence.openlineage.json.wire import Json
from whence.openlineage.names.naming import normalise, normalise_job
from whence.openlineage.names.producer_paths import correct_path


def read_dataset_name(entity: Json, at: str, producer: str = "") -> DatasetName | None:
    """The normalised name, or None if namespace or name is not a non-empty text. Raises EventError for U+0000.

    `producer`: of the event whose input or output is read, because some name files in their own way.
    """
    namespace, name = entity.get("namespace"), entity.get("name")
    if type(namespace) is not str or type(name) is not str or not namespace or not name:
        return None
    try:
        return normalise(namespace, correct_path(producer, namespace, name))
    except ValueError as error:
        raise EventError(at, str(error)) from error


def read_job_name(entity: Json, at: str) -> JobName | None:
    """The job's name, or None if namespace or name is not a text, or the namespace is empty.

    Raises EventError for U+0000.
    """
    namespace, name = entity.get("namespace"), entity.get("name")
    if type(namespace) is not str or type(name) is not str or not namespace:
        return None
    try:
        return normalise_job(namespace, name)
    except ValueError as error:
        raise EventError(at, str(error)) from error
