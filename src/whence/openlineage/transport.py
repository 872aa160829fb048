"""How events travel through a Kafka topic in OpenLineage's own clients: which of them share a message key."""

from whence.model.events import DatasetEvent, Event, JobEvent, RunEvent


def message_key(event: Event) -> str:
    """The key that the clients' `kafka` transport gives an event: runs of one job, and a chain of parents, share one.

    So what both write lies in one partition, in order.
    """
    match event:
        case RunEvent():
            above = event.run.root or event.run.parent or event.run.name
            return f"run:{above.job.namespace}/{above.job.name}"
        case JobEvent():
            return f"job:{event.job.name.namespace}/{event.job.name.name}"
        case DatasetEvent():
            return f"dataset:{event.dataset.raw.namespace}/{event.dataset.raw.name}"
