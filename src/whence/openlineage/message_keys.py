"""Message keys of events in a Kafka topic, as OpenLineage's own clients choose them."""

from whence.model.events import DatasetEvent, Event, JobEvent, RunEvent
from whence.model.names import JobName


def message_key(event: Event) -> str:
    """The key that the clients' `kafka` transport gives an event. Runs of one job, and a chain of parents, share one.

    Events of both writers are therefore in one partition, in order.
    """
    match event:
        case RunEvent():
            outermost = event.run.root or event.run.parent or event.run.name
            return run_key(outermost.job)
        case JobEvent():
            return f"job:{event.job.name.namespace}/{event.job.name.name}"
        case DatasetEvent():
            return f"dataset:{event.dataset.raw.namespace}/{event.dataset.raw.name}"


def run_key(outermost: JobName) -> str:
    """The key of an event about a run: that of the job whose run contains all others."""
    return f"run:{outermost.namespace}/{outermost.name}"
