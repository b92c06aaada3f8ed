"""``python -m onetree`` is the command ``onetree``."""

import sys

from onetree.cli import main

if __name__ == "__main__":
    sys.exit(main())
