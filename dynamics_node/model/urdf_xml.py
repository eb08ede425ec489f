"""Parse the XML of a URDF, and refuse xacro in the parts relevant to dynamics.

Some URDFs are not well-formed XML, yet other readers load them: the declaration names a version
that does not exist, or a tag of a simulator has an undeclared namespace prefix. Others contain
xacro elements in parts irrelevant to dynamics. These are read, with a note.
"""

import re
from collections import Counter
from collections.abc import Iterator

from lxml import etree

from dynamics_node.errors import ModelError

# Parts of the URDF standard that are irrelevant to dynamics.
IRRELEVANT = {
    'robot': {'material', 'transmission', 'gazebo', 'sensor', 'ros2_control'},
    'link': {'visual', 'collision', 'self_collision_checking', 'contact', 'origin'},
    'joint': {'safety_controller', 'calibration'},
    'fixed': {'axis', 'limit', 'dynamics', 'mimic'},  # a joint that cannot move has none
    'floating': {'axis'},
}
# Parts that are read, with all their content.
READ = {
    'link': {'inertial'},
    'joint': {'parent', 'child', 'origin', 'axis', 'limit', 'dynamics', 'mimic'},
}
# Elements of xacro that define something but add nothing to the robot.
DEFINITIONS = {'property', 'arg', 'macro'}
_UNDECLARED = 'undeclared-prefix:'
_DECLARATION = re.compile(r'\A<\?xml\b[^>]*\?>')
_PREFIXES = re.compile(r'(?:</?|\s)([^\W\d][\w.-]*):[^\W\d][\w.-]*')
_MOST_SHOWN = 3  # places that a note names


def parse_xml(text: str) -> tuple[etree._Element, list[str]]:
    """Return (root, notes): the element <robot>, without xacro, and notes on irregularities.

    :raise ModelError: not XML, not a robot, or xacro in a part that is read.
    """
    root, notes = _parse(text)
    _drop_namespace(root)
    notes += _without_xacro(root)
    if root.tag != 'robot':
        raise ModelError(f'the root element is <{root.tag}>, expected <robot>')
    return root, notes


def irrelevant(part: etree._Element) -> set[str]:
    """Return the tags within a link or a joint that are irrelevant to dynamics."""
    return IRRELEVANT[part.tag] | IRRELEVANT.get(part.get('type'), set())


# XML and what is nearly XML -------------------------------------------------------------------

def _parse(text: str) -> tuple[etree._Element, list[str]]:
    """Return (root, notes) of a text."""
    try:
        return _strictly(text), []
    except etree.XMLSyntaxError as error:
        try:
            return _leniently(text)
        except etree.XMLSyntaxError:
            _refuse_xacro('<xacro:' in text)
            raise ModelError(f'the URDF is not well-formed XML: {error}') from error


def _strictly(text: str) -> etree._Element:
    # The text is Unicode already, whatever encoding its declaration names.
    parser = etree.XMLParser(encoding='utf-8', resolve_entities=False, no_network=True,
                             load_dtd=False, remove_comments=True, remove_pis=True)
    return etree.fromstring(text.encode('utf-8', 'surrogatepass'), parser)


def _leniently(text: str) -> tuple[etree._Element, list[str]]:
    """Return (root, notes) of a text without its declaration, every prefix declared around it."""
    inside = _DECLARATION.sub('', text, count=1)
    prefixes = sorted(set(_PREFIXES.findall(inside)) - {'xml', 'xmlns'})
    declared = ' '.join(f'xmlns:{prefix}="{_UNDECLARED}{prefix}"' for prefix in prefixes)
    around = _strictly(f'<around {declared}>{inside}</around>')
    if len(around) != 1 or (around.text or '').strip() or (around[0].tail or '').strip():
        raise etree.XMLSyntaxError('not one root element', 0, 0, 0)
    root, notes = around[0], []
    unknown = sorted({name.namespace.removeprefix(_UNDECLARED)
                      for element in root.iter('*') for name in _names(element)
                      if (name.namespace or '').startswith(_UNDECLARED)})
    if unknown:
        notes.append(f'namespace prefix {", ".join(unknown)} is not declared: the URDF is not '
                     'well-formed XML')
    else:
        notes.append('the XML declaration is not valid, as <?xml version="1.0"?> is')
    return root, notes


def _names(element: etree._Element) -> Iterator[etree.QName]:
    return map(etree.QName, (element.tag, *element.attrib))


def _drop_namespace(root: etree._Element) -> None:
    """Remove the namespace of the root from all tags: Drake's URDFs have one."""
    home = etree.QName(root).namespace
    if home and not _is_xacro(root):
        for element in root.iter('*'):
            name = etree.QName(element)
            if name.namespace == home:
                element.tag = name.localname


# Xacro ----------------------------------------------------------------------------------------

def _without_xacro(root: etree._Element) -> list[str]:
    """Refuse xacro in parts that are read; remove definitions elsewhere and return notes."""
    left = Counter[str]()
    _refuse_xacro(_is_xacro(root) or _has_expression(root), root)
    for part in list(root.iterchildren('*')):
        if _is_xacro(part):
            _refuse_xacro(etree.QName(part).localname not in DEFINITIONS, part)
            left[_shown(part)] += 1
            root.remove(part)
        elif part.tag in READ:
            _check_part(part, left)
        else:
            _count(part, left)
    if left and root.find('link') is None:
        _refuse_xacro(True)
    if not left:
        return []
    shown = ', '.join([*left][:_MOST_SHOWN]) + (' ...' if len(left) > _MOST_SHOWN else '')
    return [f'xacro was not run: {left.total()} leftovers in parts that dynamics does not read '
            f'({shown})']


def _check_part(part: etree._Element, left: Counter[str]) -> None:
    """Refuse xacro in the read parts of a link or joint, and count leftovers elsewhere."""
    _refuse_xacro(_has_expression(part), part)
    skipped = irrelevant(part)
    for child in part.iterchildren('*'):
        _refuse_xacro(_is_xacro(child), child)
        if child.tag in READ[part.tag] and child.tag not in skipped:
            for element in child.iter('*'):
                _refuse_xacro(_is_xacro(element) or _has_expression(element), element)
        else:
            _count(child, left)


def _count(part: etree._Element, left: Counter[str]) -> None:
    left.update(_shown(element) for element in part.iter('*')
                if _is_xacro(element) or _has_expression(element))


def _is_xacro(element: etree._Element) -> bool:
    return 'xacro' in (etree.QName(element).namespace or '')


def _has_expression(element: etree._Element) -> bool:
    return any('${' in value or '$(' in value for value in element.attrib.values())


def _shown(element: etree._Element) -> str:
    prefix = 'xacro:' if _is_xacro(element) else ''
    return f'<{prefix}{etree.QName(element).localname}>'


def _refuse_xacro(found: bool, element: etree._Element | None = None) -> None:
    if found:
        where = '' if element is None else f' ({_shown(element)} in line {element.sourceline})'
        raise ModelError(f'this is xacro, not URDF{where}; run it through xacro first: '
                         'xacro robot.urdf.xacro > robot.urdf')
