"""Files of states, read, computed and written piece by piece: CSV, NPY and NPZ of any length in little memory.

Columns are named t, q_<joint>, qd_<joint>, qdd_<joint>, tau_<joint> (or q1, q2, ...) and come in any order; without names they come
in this one. An NPZ file has an array for each of q, qd, ...
"""

from dalembert.streams.files import evaluate_states as evaluate_states
from dalembert.streams.files import load_states as load_states
from dalembert.streams.files import read_states as read_states
from dalembert.streams.files import write_states as write_states
