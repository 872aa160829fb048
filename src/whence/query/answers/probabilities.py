"""Probabilities for people."""


def probability_text(probability: float) -> str:
    """A probability in per cent. None is shown as certain or as impossible.

    >>> probability_text(0.614), probability_text(1.0), probability_text(0.001)
    ('61 %', '> 99 %', '< 1 %')
    """
    if probability > 0.99:
        return "> 99 %"
    return f"{100 * probability:.0f} %" if probability >= 0.005 else "< 1 %"
