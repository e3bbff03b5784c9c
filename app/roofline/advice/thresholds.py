"""Every threshold of the rules, in one table; docs/advice.md lists them with their sources."""

IMPOSSIBLE = 1.03
"""V1: above this share of its roof an op's work or peak is wrong."""

MISMATCH = 1.10
"""V2, V3: counted by hardware over modelled."""

STOP = 0.95
"""S1: from this share of the roof on, only less work helps."""

LEAST_SAVING = 0.01
"""S2: a smaller part of the step is not worth it."""

EXPOSED = 0.30
"""C1: exposed communication, as a share of the time."""

EXPOSED_GPU = 0.20
"""C1, where the device is known to be a GPU."""

LINK_REACHED = 0.80
"""C3: a link below this share of its peak carries small messages, or waits."""

HIDDEN = 0.70
"""C1: the part of exposed communication that overlap is taken to hide."""

STRAGGLER_Z, STRAGGLER_LEAST = 3.5, 3
"""C4: modified z of a core's work, and the least number of cores."""

FAR = 0.40
"""L1: below this share of every roof nothing that has a roof is the limit of a short call."""

OF_USE, OF_USE_LATENCY = 0.80, 0.70
"""W2: below this share of its use for the work a unit is wasted: a busy one, one that is not."""

LAUNCH_US = 10.0
"""L1: a shorter call is bound by its launch."""

IDLE = 0.10
"""H1: idle share of the time."""

INFEED = 0.10
"""H2: share of the time in infeed and outfeed."""

TWO_WAYS = 0.10
"""C5: the bytes of the lesser direction at the peak, as a share of the wait."""

SERIAL = (0.9, 1.1)
"""O1: the time, as a share of all clocks one after the other."""

SERIAL_GAIN = 1.3
"""O1: least T_max / T_min."""

GOOD = 0.60
"""M1, K1 below it; M2, K2 from it on."""

RIDGE = (0.8, 1.25)
"""B1: compute time over memory time."""

UNKNOWN_COST = 0.30
"""V7: from this share of the time on, costs come first."""

WEIGHTS = 0.50
"""G2: least share of the bytes that are weights."""

FILLED = 0.90
"""K1: below this share of full tiles and waves the filling is a finding of its own."""

OPTION = 1.10
"""C2, G3, G4, L3: least gain of an option."""

ACCEPTED, DRAFTS, DRAFT_COST = 0.8, 4, 0.1
"""G6: chance that a draft is accepted, drafts per step, cost of a draft relative to the model."""

REMATERIALISED = 0.20
"""G7: least share of the FLOPs that are computed again."""

TARGET = 0.90
TARGET_MXU = 0.95
TARGET_GPU_MATRIX = 0.85
"""The share of a roof that tuning reaches: in general, of a TPU's matrix unit, of a GPU's."""
