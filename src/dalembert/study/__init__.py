"""Studies of a robot: for now a readable summary with torques and operation counts."""

from dalembert.study.brief import brief as brief
from dalembert.study.compare import Comparison as Comparison
from dalembert.study.compare import compare as compare
from dalembert.study.complexity import complexity as complexity
