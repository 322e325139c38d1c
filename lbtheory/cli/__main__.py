"""``python -m lbtheory.cli``."""

from lbtheory.cli import main

main()
