"""Programs: what a plain function computed, recorded as straight-line code. Knows no robots.

What programs do over boxes of inputs is in `intervals`. May import: algebra.
"""

from dalembert.trace.count import OperationCount as OperationCount
from dalembert.trace.count import operation_count as operation_count
from dalembert.trace.count import tally as tally
from dalembert.trace.differentiate import differentiate as differentiate
from dalembert.trace.exact import Angle as Angle
from dalembert.trace.exact import Residue as Residue
from dalembert.trace.expr import Expr as Expr
from dalembert.trace.program import Program as Program
from dalembert.trace.program import Variable as Variable
from dalembert.trace.program import trace as trace
from dalembert.trace.replay import replay as replay
