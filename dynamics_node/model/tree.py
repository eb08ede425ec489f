"""Check that links and joints form a tree, and order the joints depth-first."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from dynamics_node.errors import ModelError
from dynamics_node.model.records import JointRecord, LinkRecord


def depth_first(links: Sequence[LinkRecord],
                joints: Sequence[JointRecord]) -> tuple[str, list[JointRecord]]:
    """Return (root link, joints depth-first), children in the order of the text.

    :raise ModelError: a joint names a missing link, a link has two parents, there are several
        roots, or none (a cycle).
    """
    names = [link.name for link in links]
    _check_ends(dict.fromkeys(names), joints)
    parent_joint = _single_parents(joints)
    roots = [name for name in names if name not in parent_joint]
    if len(roots) > 1:
        raise ModelError(f'the robot has {len(roots)} root links: {some(roots)}; '
                         'connect them by joints so that one remains')
    order = _walk(roots[0], joints) if roots else []
    if len(order) < len(joints):
        reached = {joint.name for joint in order}
        lost = next(joint for joint in joints if joint.name not in reached)
        raise ModelError('the joints form a cycle: '
                         f'{some(_cycle(lost.child, parent_joint), " <- ")}; a URDF is a tree, '
                         'every link but the root is the child of one joint')
    return roots[0], order


def _check_ends(names: Collection[str], joints: Sequence[JointRecord]) -> None:
    for joint in joints:
        for end, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in names:
                raise ModelError(f"joint '{joint.name}' has the {end} link '{link}', which the "
                                 f'URDF does not define; it has: {some(names)}')


def _single_parents(joints: Sequence[JointRecord]) -> dict[str, JointRecord]:
    parent_joint: dict[str, JointRecord] = {}
    for joint in joints:
        if joint.child in parent_joint:
            raise ModelError(f"link '{joint.child}' is the child of two joints, "
                             f"'{parent_joint[joint.child].name}' and '{joint.name}'; a URDF is a "
                             'tree: close loops by the list of loop constraints')
        parent_joint[joint.child] = joint
    return parent_joint


def _walk(root: str, joints: Sequence[JointRecord]) -> list[JointRecord]:
    children: dict[str | None, list[JointRecord]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    order, stack = [], children.get(root, [])[::-1]
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack.extend(children.get(joint.child, [])[::-1])
    return order


def _cycle(link: str, parent_joint: Mapping[str, JointRecord]) -> list[str]:
    """Return the links of the cycle above a link, the first one twice."""
    seen: dict[str, int] = {}
    while link not in seen:
        seen[link] = len(seen)
        link = parent_joint[link].parent or ''
    return [*list(seen)[seen[link]:], link]


def refuse_duplicates(kind: str, records: Sequence[LinkRecord] | Sequence[JointRecord]) -> None:
    """Raise a ModelError if two links or two joints have one name."""
    seen = set()
    for record in records:
        if record.name in seen:
            raise ModelError(f"two {kind}s are named '{record.name}'; names must be unique")
        seen.add(record.name)


def some(names: Iterable[str], separator: str = ', ', most: int = 12) -> str:
    """Return the first names, and their number if there are more, for an error message."""
    names = list(names)
    more = [f'... ({len(names)} in all)'] if len(names) > most else []
    return separator.join([*names[:most], *more])
