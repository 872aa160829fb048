"""columnLineage and explicit lineage facets in all their forms."""

from hypothesis import strategies as st

from generators.universe import NO_NAMES, Json, dataset_names, few, fields, job_names, optional, run_ids

transformation = optional(
    {},
    type=st.sampled_from(["DIRECT", "DIRECT", "INDIRECT", "indirect"]),
    subtype=st.sampled_from(["IDENTITY", "TRANSFORMATION", "AGGREGATION", "FILTER", "join"]),
    description=st.sampled_from(["", "\0", 'sum(x) "y"', "größer"]),
    masking=st.booleans(),
)
transformations = few(transformation, most=3)
copied = {"type": "INDIRECT", "subtype": "FILTER", "description": "", "masking": False}


@st.composite
def _input_field(draw: st.DrawFn) -> Json:
    dataset = draw(dataset_names if draw(st.integers(0, 9)) else st.sampled_from(NO_NAMES))
    field = dataset | {"field": draw(fields)} if draw(st.integers(0, 9)) else dataset
    how = draw(st.none() | transformations)
    return field if how is None else field | {"transformations": how}


output_field = optional(
    {"inputFields": few(_input_field())},
    transformationType=st.sampled_from(["IDENTITY", "MASKED", "OTHER"]),
    transformationDescription=st.sampled_from(["as it is", ""]),
)
plain = optional({"fields": st.dictionaries(fields, output_field, max_size=3)}, dataset=few(_input_field()))


@st.composite
def _legacy(draw: st.DrawFn) -> Json:
    """Spark's older form: what touches the whole output, copied into every field."""
    influence = draw(dataset_names) | {"field": draw(fields)}
    outputs = draw(st.dictionaries(fields, few(_input_field(), most=1), min_size=1, max_size=3))
    extra = draw(st.sampled_from([copied, {**copied, "subtype": "JOIN"}]))
    own = draw(st.sampled_from([None, *outputs]))  # the field that also has a value of the same source
    how = {name: [{"type": "DIRECT"}, copied, extra] if name == own else [copied, extra] for name in outputs}
    return {
        "fields": {
            name: {"inputFields": [*some, influence | {"transformations": how[name]}]} for name, some in outputs.items()
        }
    }


column_lineage = plain | plain | _legacy()


@st.composite
def _dataset_source(draw: st.DrawFn) -> Json:
    source = draw(dataset_names if draw(st.integers(0, 9)) else st.sampled_from(NO_NAMES))
    source = source | draw(
        st.sampled_from([{"type": "DATASET"}, {"type": "DATASET"}, {"type": "DATASET"}, {}, {"type": "TOPIC"}])
    )
    if draw(st.booleans()):
        source["field"] = draw(fields)
    how = draw(st.none() | transformations)
    return source if how is None else source | {"transformations": how}


@st.composite
def _job_reference(draw: st.DrawFn) -> Json:
    own = draw(st.booleans())
    named = draw(st.sampled_from([{}, {}, {}, {"name": "half"}])) if own else draw(job_names)
    return {"type": "JOB"} | named | ({"runId": draw(run_ids)} if draw(st.booleans()) else {})


sources = few(_dataset_source() | _dataset_source() | _job_reference(), most=3)
field_sources = st.dictionaries(fields, st.fixed_dictionaries({"inputs": sources}), max_size=2)
own_sources = optional({}, inputs=sources, fields=field_sources)


@st.composite
def _entry(draw: st.DrawFn) -> Json:
    if draw(st.integers(0, 3)) == 0:
        return draw(_job_reference()) | {"inputs": draw(sources)}
    return draw(dataset_names) | {"type": "DATASET"} | draw(own_sources)


job_lineage = st.fixed_dictionaries({"entries": few(_entry(), most=3)})
dataset_lineage = st.one_of(own_sources, own_sources, st.fixed_dictionaries({"entries": few(_entry())}))
