"""Studies of a robot: for now a readable summary with torques and operation counts."""

from dalembert.study.brief import brief as brief
from dalembert.study.complexity import complexity as complexity
