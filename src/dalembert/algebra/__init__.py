"""Arrays of any scalar (floats, fractions, traced expressions), rigid-body algebra on them, and small linear algebra.

Public as `da.algebra`: rotations, rigid motions and single bodies, as functions of plain arrays with any leading axes.

May import: nothing.
"""

from dalembert.algebra.bodies import Body as Body
from dalembert.algebra.bodies import body_acceleration as body_acceleration
from dalembert.algebra.bodies import body_of_pseudo_inertia as body_of_pseudo_inertia
from dalembert.algebra.bodies import body_wrench as body_wrench
from dalembert.algebra.bodies import euler_moment as euler_moment
from dalembert.algebra.bodies import featherstone_inertia as featherstone_inertia
from dalembert.algebra.bodies import featherstone_product as featherstone_product
from dalembert.algebra.bodies import force_by_trace as force_by_trace
from dalembert.algebra.bodies import inertia_rate as inertia_rate
from dalembert.algebra.bodies import inertia_tensor as inertia_tensor
from dalembert.algebra.bodies import kinetic_energy as kinetic_energy
from dalembert.algebra.bodies import kinetic_energy_by_trace as kinetic_energy_by_trace
from dalembert.algebra.bodies import newton_euler as newton_euler
from dalembert.algebra.bodies import pseudo_inertia as pseudo_inertia
from dalembert.algebra.bodies import pseudo_inertia_by_radii as pseudo_inertia_by_radii
from dalembert.algebra.bodies import second_moments as second_moments
from dalembert.algebra.bodies import spatial_inertia as spatial_inertia
from dalembert.algebra.bodies import steiner as steiner
from dalembert.algebra.motions import Ad as Ad
from dalembert.algebra.motions import Ad_dual as Ad_dual
from dalembert.algebra.motions import Screw as Screw
from dalembert.algebra.motions import ad as ad
from dalembert.algebra.motions import ad_dual as ad_dual
from dalembert.algebra.motions import body_twist as body_twist
from dalembert.algebra.motions import bracket as bracket
from dalembert.algebra.motions import exp_se3 as exp_se3
from dalembert.algebra.motions import hat as hat
from dalembert.algebra.motions import inverse as inverse
from dalembert.algebra.motions import log_se3 as log_se3
from dalembert.algebra.motions import matrix_rate as matrix_rate
from dalembert.algebra.motions import screw as screw
from dalembert.algebra.motions import screw_of as screw_of
from dalembert.algebra.motions import space_twist as space_twist
from dalembert.algebra.motions import unhat as unhat
from dalembert.algebra.motions import vector_rate as vector_rate
from dalembert.algebra.rotations import EPSILON as EPSILON
from dalembert.algebra.rotations import angular_velocity as angular_velocity
from dalembert.algebra.rotations import exp_so3 as exp_so3
from dalembert.algebra.rotations import log_so3 as log_so3
from dalembert.algebra.rotations import moving_acceleration as moving_acceleration
from dalembert.algebra.rotations import moving_velocity as moving_velocity
from dalembert.algebra.rotations import rodrigues as rodrigues
from dalembert.algebra.rotations import rotation_acceleration as rotation_acceleration
from dalembert.algebra.rotations import rotation_matrix as rotation_matrix
from dalembert.algebra.rotations import rotation_rate as rotation_rate
from dalembert.algebra.rotations import skew as skew
from dalembert.algebra.rotations import unskew as unskew
