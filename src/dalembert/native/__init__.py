"""The native engine: programs to vector machine code behind NumPy gufuncs. Knows no robots.

Programs over millions of states, of which only extremes and counts are kept, are in `sweeps`. May import: trace.
"""

from dalembert.native import cache as cache
from dalembert.native.kernel import Kernel as Kernel
from dalembert.native.kernel import compile_program as compile_program
from dalembert.native.recycle import set_recycling as set_recycling
from dalembert.native.threads import get_threads as get_threads
from dalembert.native.threads import set_threads as set_threads
