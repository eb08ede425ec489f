"""Format numbers for pages, and convert results to plain JSON values."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

MINUS, UNKNOWN = '\N{MINUS SIGN}', '\N{EN DASH}'
SIGNIFICANT = 4
# Relative to the greatest number of a column:
SMALLEST = 1e-4  # if a number is smaller, each number has its own decimals or exponent
ROUNDING = 1e-9  # a smaller number is shown as 0


def shown(value: float, significant: int = SIGNIFICANT, zero: float = 0.0) -> str:
    """Return the text of a number: significant digits, a typographic minus, a dash for nan.

    :param zero: values below this are rounding and shown as 0.
    """
    if abs(value) < zero:
        return '0'
    if np.isnan(value):
        return UNKNOWN
    if np.isinf(value):
        return f'{MINUS if value < 0 else ""}\N{INFINITY}'
    text = f'{value:.{significant}g}'
    mantissa, _, exponent = text.partition('e')
    if exponent and -5 < int(exponent) < significant + 3:  # 12340, not 1.234e+04
        text = f'{float(text):.0f}' if int(exponent) > 0 else f'{float(text):.8f}'.rstrip('0')
    elif exponent:
        text = f'{mantissa}e{int(exponent)}'
    return ('0' if float(text) == 0.0 else text).replace('-', MINUS)


def column(values: ArrayLike, significant: int = SIGNIFICANT) -> list[str]:
    """Return the texts of a column of numbers, all with the decimals of the greatest number.

    If the smallest number would lose all its digits, each number has its own decimals.
    """
    values = np.asarray(values, dtype=float)
    values = np.where(np.abs(values) < ROUNDING * _greatest(values), 0.0, values)
    sizes = np.abs(values[np.isfinite(values) & (values != 0.0)])
    if sizes.size == 0 or sizes.min() < SMALLEST * sizes.max() or not 1e-3 < sizes.max() < 1e6:
        return [shown(value, significant) for value in values]
    decimals = max(0, significant - 1 - int(np.floor(np.log10(sizes.max()))))
    return [f'{value:.{decimals}f}'.replace('-', MINUS) if np.isfinite(value) and value else
            shown(value) for value in values]


def _greatest(values: np.ndarray) -> float:
    return np.abs(values[np.isfinite(values)]).max(initial=0.0)


def plain(value: Any) -> Any:
    """Return the value as dicts, lists, texts and numbers of strict JSON; None for nan and inf."""
    if hasattr(value, '_asdict'):
        value = value._asdict()
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value
