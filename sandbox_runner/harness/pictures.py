"""Saves the matplotlib figures that the learner left open, as a notebook would show them.

Law: never imports matplotlib by itself, and never overwrites a file of the learner's.
"""

import os
import sys

MOST_FIGURES = 8


def save_figures(folder: str) -> int:
    """Save each open figure as `figure_N.png` in `folder` and give how many were saved.

    A figure that cannot be drawn raises what drawing it raised: that is the learner's fault, and said as such.
    """
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return 0
    saved = 0
    for number in pyplot.get_fignums()[:MOST_FIGURES]:
        figure = pyplot.figure(number)
        if not figure.get_axes() and not figure.texts and not figure.images:
            continue
        path = _free(folder, number)
        figure.savefig(path, format="png")
        saved += 1
    return saved


def _free(folder: str, number: int) -> str:
    path = os.path.join(folder, f"figure_{number}.png")
    again = 1
    while os.path.lexists(path):
        again += 1
        path = os.path.join(folder, f"figure_{number}_{again}.png")
    return path
