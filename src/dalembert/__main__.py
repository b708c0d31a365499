"""`python -m dalembert` is `dalembert`."""

import sys

from dalembert.cli import main

sys.exit(main())
