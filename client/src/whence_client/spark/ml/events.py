"""The events of a model that is saved: pure, from what it was fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whence_client.events.datasets import Dataset, Field
from whence_client.events.facets import facet
from whence_client.events.runs import COMPLETE, START, job_type_facet, run_event
from whence_client.lineage.facets import lineage_facets
from whence_client.spark.capture.records import Target

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from whence_client.events.facets import Event
    from whence_client.events.runs import RunRef
    from whence_client.spark.capture.events import Application
    from whence_client.spark.ml.models import SavedModel

MODEL = "MODEL"


def model_target(saved: SavedModel) -> Target:
    """What a saved model is as the target of a write."""
    return Target(saved.dataset, tuple(saved.fields), change="OVERWRITE", kind=MODEL)


def model_events(
    saved: SavedModel, run: RunRef, application: Application, began: datetime, ended: datetime
) -> Iterator[Event]:
    """The START of the run that saves a model, and its end with the data that the model was fitted on."""
    job_facets = {**application.job_facets, "jobType": job_type_facet("QUERY", "SPARK")}
    yield run_event(START, run, began, parent=application.run, job_facets=job_facets)
    facets = {
        "datasetType": facet("DatasetTypeDatasetFacet", datasetType=MODEL),
        **lineage_facets(saved.fields, saved.rows),
    }
    yield run_event(
        COMPLETE,
        run,
        ended,
        parent=application.run,
        run_facets=application.run_facets,
        job_facets=job_facets,
        inputs=[Dataset(*one) for one in saved.inputs],
        outputs=[Dataset(*saved.dataset, tuple(map(Field, saved.fields)), facets)],
    )
