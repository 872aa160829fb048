"""The words for what rules of certification say of a dataset."""

from typing import Literal

CertificationText = Literal["certified", "not certified", "not evaluated", "no rule"]
RequirementText = Literal["owner", "contract", "lineage", "objectives", "checks"]
