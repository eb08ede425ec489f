"""Select the subtree of a link: the link, and all links that it carries."""

from collections.abc import Set
from dataclasses import replace

from dynamics_node.model.model import WORLD, Model
from dynamics_node.model.payload import with_carried
from dynamics_node.spatial import inertia as inertias
from dynamics_node.spatial.inertia import Inertia


def links_of_subtree(model: Model, link: str) -> set[str]:
    """Return the names of a link and of all its descendants, through fixed joints too."""
    found = {link}
    for child, parent in model.parents.items():  # a parent comes before its children
        if parent in found:
            found.add(child)
    return found


def only_subtree(model: Model, link: str) -> Model:
    """Return the model in which only the subtree of a link has mass, its payloads included.

    The joints move as before, so each joint transmits the wrench that the motion of the subtree
    needs. If a fixed joint divides a body, the part in the subtree has the inertias of the URDF.
    """
    subtree = links_of_subtree(model, link)
    bodies = tuple(body if body.name in subtree else replace(body, inertia=inertias.ZERO)
                   for body in model.bodies)
    place = model.frame(link).body
    if place != WORLD and bodies[place].name not in subtree:
        bodies = (*bodies[:place], replace(bodies[place], inertia=_part(model, place, subtree)),
                  *bodies[place + 1:])
    payloads = {name: load for name, load in model.payloads.items() if load.frame in subtree}
    return with_carried(model.with_(bodies=bodies, base_inertia=inertias.ZERO), payloads)


def _part(model: Model, body: int, names: Set[str]) -> Inertia:
    """Return the inertia of those links of a body that have these names, in the body's frame."""
    total = inertias.ZERO
    for record in model.links:
        frame = model.frames[record.name]
        if frame.body == body and record.name in names:
            total = total + record.inertia.seen_from(frame.pose)
    return total
