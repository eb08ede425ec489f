"""Check the size of a robot description before it is parsed."""

import re

from dynamics_node.ros.parameters.caps import Caps


def check_description(caps: Caps, text: str) -> None:
    """Raise a CapExceeded if a URDF exceeds a cap.

    Elements are counted by their opening brackets: in XML, '<' is part of nothing else, except in
    comments and CDATA, which are counted too.
    """
    caps.check('model.max_elements', text.count('<') - text.count('</'), 'elements of the URDF')
    caps.check('model.max_joints', len(re.findall(r'<joint\b', text)), 'joints of the URDF')
    caps.check('model.max_name', max(map(len, re.findall(r'\bname\s*=\s*["\']([^"\'<]*)', text)),
                                     default=0), 'characters of a name in the URDF')
