"""Choose the colours of the inspector; they differ in brightness, for colour-blind readers."""

import numpy as np

RGB = tuple[int, int, int]

# Share of the torque limit -> colour: samples of the map cividis, which readers with any kind of
# colour blindness see as one ramp from dark to bright. Beyond the limit: magenta, and text.
RAMP = np.array([(0, 50, 110), (60, 77, 108), (103, 104, 112), (146, 134, 118), (195, 168, 105),
                 (254, 232, 56)], dtype=float)
OVER: RGB = (212, 17, 89)
UNKNOWN: RGB = (150, 150, 150)

# Parts of a torque: the palette of Okabe and Ito.
PARTS = {'gravity': '#0072b2', 'coriolis': '#56b4e9', 'inertia': '#009e73', 'friction': '#e69f00',
         'springs': '#999999', 'payload': '#d55e00', 'external': '#cc79a7'}


def share_colour(share: float) -> RGB:
    """Return the colour of a torque as a share of its limit; nan is unknown."""
    if np.isnan(share):
        return UNKNOWN
    if share > 1.0:
        return OVER
    places = np.linspace(0.0, 1.0, len(RAMP))
    r, g, b = (int(round(np.interp(share, places, channel))) for channel in RAMP.T)
    return r, g, b


def hexadecimal(colour: RGB) -> str:
    """Return a colour as in CSS."""
    return '#{:02x}{:02x}{:02x}'.format(*colour)
