"""python -m indistinct.cli"""

import sys

from indistinct.cli import main

sys.exit(main())
