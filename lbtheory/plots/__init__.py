"""Style and panels of every figure. A figure reads tables and draws; nothing here simulates.

Matplotlib and pandas are imported when a function needs them, so importing this package costs nothing.
"""

from lbtheory.plots.panels import gaps as gaps
from lbtheory.plots.panels import published_beside_reproduced as published_beside_reproduced
from lbtheory.plots.panels import trajectories as trajectories
from lbtheory.plots.style import color as color
from lbtheory.plots.style import context as context
from lbtheory.plots.style import label as label
from lbtheory.plots.style import new_figure as new_figure
from lbtheory.plots.style import save as save
