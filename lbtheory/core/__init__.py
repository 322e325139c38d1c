"""What every other package stands on: errors, random streams, solver status, frozen arrays."""

from lbtheory.core.arrays import frozen as frozen
from lbtheory.core.arrays import readonly as readonly
from lbtheory.core.checks import whole_number as whole_number
from lbtheory.core.errors import CapacityError as CapacityError
from lbtheory.core.errors import EmptyTraceError as EmptyTraceError
from lbtheory.core.errors import FileFormatError as FileFormatError
from lbtheory.core.errors import InfeasibleError as InfeasibleError
from lbtheory.core.errors import InformationError as InformationError
from lbtheory.core.errors import InputError as InputError
from lbtheory.core.errors import InstanceError as InstanceError
from lbtheory.core.errors import LBTheoryError as LBTheoryError
from lbtheory.core.errors import ParameterError as ParameterError
from lbtheory.core.errors import PolicyError as PolicyError
from lbtheory.core.errors import SizeOverflowError as SizeOverflowError
from lbtheory.core.errors import UnknownNameError as UnknownNameError
from lbtheory.core.files import whole_file as whole_file
from lbtheory.core.files import write_whole as write_whole
from lbtheory.core.rng import generator as generator
from lbtheory.core.rng import seed_sequence as seed_sequence
from lbtheory.core.status import SolverStatus as SolverStatus
