"""`python -m roost.agent`."""

import sys

from roost.agent.main import main

sys.exit(main())
