"""`python -m tilework` is the command `tilework`."""

import sys

from tilework.tools.cli import main

sys.exit(main())
