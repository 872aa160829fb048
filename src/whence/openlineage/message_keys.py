"""Message keys of events in a Kafka topic, as OpenLineage's own clients choose them."""

from whence.model.events import DatasetEvent, Event, JobEvent, RunEvent


def message_key(event: Event) -> str:
    """The key that the clients' `kafka` transport gives an event. Runs of one job, and a chain of parents, share one.

    Events of both writers are therefore in one partition, in order.
    """
    match event:
        case RunEvent():
            outermost = event.run.root or event.run.parent or event.run.name
            return f"run:{outermost.job.namespace}/{outermost.job.name}"
        case JobEvent():
            return f"job:{event.job.name.namespace}/{event.job.name.name}"
        case DatasetEvent():
            return f"dataset:{event.dataset.raw.namespace}/{event.dataset.raw.name}"
