"""The card of a model at the terminal."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from whence.cli.output.labels import label, name_of
from whence.cli.output.streams import print_document, print_lines, safe
from whence.errors import QuestionError

Json = dict[str, Any]


def print_card(files: Mapping[str, bytes], node: str, form: str) -> None:
    """Print the card in a pack as `text`, `json` or `html`. Raises QuestionError if the node is no model."""
    if "card.json" not in files:
        raise QuestionError("model", f"{node} is not reported as a model: its datasetType is not MODEL")
    if form == "html":
        sys.stdout.write(files["card.html"].decode())
        return
    card = json.loads(files["card.json"])
    if form == "json":
        print_document(card)
    else:
        print_lines(card_lines(card))


def card_lines(card: Json) -> Iterator[Text]:
    """The card as lines."""
    model, drift, short = card["model"], card["drift"], _short_names(card)
    yield Text(f"{short[model['node']]}  model card", "bold")
    owners = ", ".join(safe(one["name"]) for one in model["owners"])
    yield Text(f"owners: {owners or 'none'}; tier: {model['tier'] or 'none'}")
    yield Text("Training runs" if card["training"] else "Training runs: none known", "bold")
    for run in card["training"]:
        commit = f", commit {safe(run['commit']['version'])}" if run["commit"] and run["commit"]["version"] else ""
        yield Text(f"  {safe(run['ended_at'] or 'not ended')}  {run['state']}  {short[run['job']]}{commit}")
    yield Text("Features" if card["features"] else "Features: none known", "bold")
    for feature in card["features"]:
        yield from _feature_lines(feature, short)
    since = drift["since"]
    yield Text(f"Changes since training, after {since}" if since else "Changes since training: not known", "bold")
    for one in drift["changed"]:
        yield Text(f"  {short[one['node']]}")
        yield from (Text(f"    {fact['time']}  {safe(fact['text'])}") for fact in one["evidence"])
    if since and not drift["changed"]:
        yield Text("  none found")
    yield Text(f"Promotions: {len(card['promotions'])}; approvals: {len(card['approvals'])}", "bold")
    for one in card["approvals"]:
        yield Text(f"  {one['recorded_at']}  {safe(one['person'])}  {safe(one['repository'])} {safe(one['commit'])}")


def _feature_lines(feature: Json, short: Mapping[str, str]) -> Iterator[Text]:
    marks = [f"{one['category']} {one['grade']}{' assumed' if one['assumed'] else ''}" for one in feature["labels"]]
    yield Text(f"  {short[feature['node']]}{'  ' if marks else ''}{', '.join(marks)}")
    for origin in feature["origins"]:
        if origin != feature["node"]:
            yield Text(f"    ← {short[origin]}")
    if (more := feature["origins_total"] - len(feature["origins"])) > 0:
        yield Text(f"    and {more:,} more")


def _short_names(card: Json) -> Mapping[str, str]:
    """The shortest names that tell the nodes of a card apart."""
    nodes = {card["model"]["node"], *(run["job"] for run in card["training"])}
    nodes |= {node for one in card["features"] for node in (one["node"], *one["origins"])}
    nodes |= {one["node"] for one in card["drift"]["changed"]}
    names = {node: name_of(node) for node in sorted(nodes)}
    labels = label(names.values())
    return {node: safe(labels.of(name)) for node, name in names.items()}
