"""Derivations to teach with: the steps of a method for one robot, in letters."""

from dalembert.symbolic.derivation.document import Derivation as Derivation
from dalembert.symbolic.derivation.document import derive as derive
