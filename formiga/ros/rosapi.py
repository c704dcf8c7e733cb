"""Questions about topics and types, which the node `rosapi` answers beside a rosbridge: what clients ask when they connect.

There is one node, /formiga, and one parameter, /use_sim_time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from formiga.errors import FormigaError, suggest
from formiga.ros.definitions import DEFINITIONS, PLAIN, fields, full_text, parts, plain_name
from formiga.ros.orders import shown
from formiga.ros.topics import Offer, absolute

NODE = "/formiga"
PARAMETERS = {"/use_sim_time": "true"}  # name -> its value as JSON

Values = dict[str, Any]


class Question(NamedTuple):
    """One service: its type, and its answer to arguments."""

    type: str
    answer: Callable[[Offer, dict[str, Any], dict[str, int]], Values]


def answer(service: str, given: Any, offer: Offer, stamp: dict[str, int]) -> Values:
    """The values that a service returns; FormigaError if there is none of that name. stamp: the simulated time."""
    service = absolute(service)
    if service not in SERVICES:
        raise FormigaError(f"there is no service '{shown(service)}'.{suggest(service[:80], SERVICES)} /rosapi/services lists "
                           "all.")
    return SERVICES[service].answer(offer, given if isinstance(given, dict) else {}, stamp)


def _text(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise FormigaError(f"the argument {name} must be a text.")
    return value


def _names(offer: Offer) -> list[str]:
    return [*offer.shown, *(name for name in offer.taken if name not in offer.shown)]


def _topics(offer: Offer, given: dict[str, Any], stamp: dict[str, int]) -> Values:
    names = _names(offer)
    return {"topics": names, "types": [offer.type_of(name) for name in names]}


def _raw_types(offer: Offer, given: dict[str, Any], stamp: dict[str, int]) -> Values:
    found = _topics(offer, given, stamp)
    return {**found, "typedefs_full_text": [full_text(kind) for kind in found["types"]]}


def _topics_for_type(offer: Offer, given: dict[str, Any], stamp: dict[str, int]) -> Values:
    kind = plain_name(_text(given, "type"))
    return {"topics": [name for name in _names(offer) if offer.type_of(name) == kind]}


def _details(offer: Offer, given: dict[str, Any], stamp: dict[str, int]) -> Values:
    kind = plain_name(_text(given, "type"))
    if kind not in DEFINITIONS:
        raise FormigaError(f"there is no message type '{shown(kind)}'.{suggest(kind[:80], DEFINITIONS)}")
    return {"typedefs": [{
        "type": part, "fieldnames": [each.name for each in fields(part)],
        "fieldtypes": [each.type for each in fields(part)],
        "fieldarraylen": [-1 if each.length is None else max(0, each.length) for each in fields(part)],
        "examples": ["" if each.type == "string" else "0" if each.type in PLAIN else "{}" for each in fields(part)],
        "constnames": [], "constvalues": [],
    } for part in parts(kind)]}


def _node(offer: Offer, given: dict[str, Any], stamp: dict[str, int]) -> Values:
    ours = _text(given, "node") == NODE
    return {"subscribing": list(offer.taken) if ours else [], "publishing": list(offer.shown) if ours else [],
            "services": list(SERVICES) if ours else []}


def _service_type(offer: Offer, given: dict[str, Any], stamp: dict[str, int]) -> Values:
    service = absolute(_text(given, "service"))
    return {"type": SERVICES[service].type if service in SERVICES else ""}


def _services_for_type(offer: Offer, given: dict[str, Any], stamp: dict[str, int]) -> Values:
    kind = _text(given, "type").replace("/srv/", "/")
    return {"services": [name for name, each in SERVICES.items() if each.type == kind]}


SERVICES: dict[str, Question] = {
    "/rosapi/topics": Question("rosapi/Topics", _topics),
    "/rosapi/topics_and_raw_types": Question("rosapi/TopicsAndRawTypes", _raw_types),
    "/rosapi/topics_for_type": Question("rosapi/TopicsForType", _topics_for_type),
    "/rosapi/topic_type": Question("rosapi/TopicType", lambda offer, given, _: {"type": offer.type_of(_text(given, "topic"))}),
    "/rosapi/message_details": Question("rosapi/MessageDetails", _details),
    "/rosapi/publishers": Question("rosapi/Publishers", lambda offer, given, _: {
        "publishers": [NODE] if absolute(_text(given, "topic")) in offer.shown else []}),
    "/rosapi/subscribers": Question("rosapi/Subscribers", lambda offer, given, _: {
        "subscribers": [NODE] if absolute(_text(given, "topic")) in offer.taken else []}),
    "/rosapi/nodes": Question("rosapi/Nodes", lambda offer, given, _: {"nodes": [NODE]}),
    "/rosapi/node_details": Question("rosapi/NodeDetails", _node),
    "/rosapi/services": Question("rosapi/Services", lambda offer, given, _: {"services": list(SERVICES)}),
    "/rosapi/service_type": Question("rosapi/ServiceType", _service_type),
    "/rosapi/services_for_type": Question("rosapi/ServicesForType", _services_for_type),
    "/rosapi/action_servers": Question("rosapi/GetActionServers", lambda offer, given, _: {"action_servers": []}),
    "/rosapi/get_time": Question("rosapi/GetTime", lambda offer, given, stamp: {"time": stamp}),
    "/rosapi/get_param_names": Question("rosapi/GetParamNames", lambda offer, given, _: {"names": list(PARAMETERS)}),
    "/rosapi/has_param": Question("rosapi/HasParam", lambda offer, given, _: {"exists": _text(given, "name") in PARAMETERS}),
    "/rosapi/get_param": Question("rosapi/GetParam", lambda offer, given, _: {
        "value": PARAMETERS.get(_text(given, "name"), given.get("default", "null"))}),
}

__all__ = ["SERVICES", "answer"]
