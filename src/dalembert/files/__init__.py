"""Tables of states and motions in files, piece by piece: CSV, NPY and NPZ.

Columns of states are named t, q_<joint>, qd_<joint>, qdd_<joint>, tau_<joint> (or q1, q2, ...) and come in any order; without names
they come in this one. An NPZ file has an array for each of q, qd, ...

May import: algebra, model, storage.
"""

from dalembert.files.states import load_states as load_states
from dalembert.files.states import read_states as read_states
from dalembert.files.states import write_states as write_states
