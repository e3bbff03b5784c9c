"""Where XProf 2.24.2 reads a capture differently from what is right, one attribute each.

Comparison mode switches all of them on, and then every cell equals XProf's own table. Measured on
XProf itself.
"""

from dataclasses import dataclass


class Mistake:
    """One mistake of XProf: made in comparison mode."""

    def __get__(self, oddities: "Oddities", _owner: type) -> bool:
        return oddities.on


@dataclass(frozen=True, slots=True)
class Oddities:
    """The mistakes of XProf: all of them, or none."""

    on: bool

    # ---------------------------------------------------------------------------- ops of a TPU core

    wraps_self_time = Mistake()
    """Self time of an op that is shorter than the ops inside it wraps below zero."""
    wraps_negative_costs = Mistake()
    """A negative count of FLOPs or bytes becomes 2**64 minus something."""
    drops_ops_without_id = Mistake()
    """Ops of unknown program or instruction are not listed; what they take counts as idle."""
    leaves_unsplit_bytes_out_of_programs = Mistake()
    """Bytes that a kernel states itself are HBM's in its row, and missing in its program's."""
    joins_captures = Mistake()
    """Captures of one host, one after the other, count as hosts of one run."""
    pairs_steps_without_overlap = Mistake()
    """Hosts whose steps share no time share their first ones all the same."""
    times_an_empty_plane = Mistake()
    """A plane without any event lasts a picosecond."""
    last_op_line_counts = Mistake()
    """Of several op lines the last one makes the steps, even without an event of any step."""

    # -------------------------------------------------------------------------------- steps of TPUs

    reads_signed_group_ids = Mistake()
    """Markers read `group_id` as int64 only: ids written as uint64 all become step 0."""
    counts_roots_without_launch = Mistake()
    """Cores that no launch links to the host's steps are numbered after all of these."""
    forgets_cores_before_a_gap = Mistake()
    """Cores that share no step with those before them are forgotten together with them."""
    files_steps_by_plane_id = Mistake()
    """Step data are kept by plane id: of planes with equal ids the last one counts."""

    # ------------------------------------------------------------------------------ device of a TPU

    takes_peaks_of_first_plane = Mistake()
    """Peaks are those of the first TPU plane: a SparseCore in front zeroes them."""

    # ------------------------------------------------------------------------------ kernels of GPUs

    compares_whole_line_ids = Mistake()
    """A derived line is known by all 64 bits of its id, of which some writers keep 32."""
    leaves_out_line_start = Mistake()
    """The span of a GPU's events leaves out when their lines start."""
    charges_every_kernel = Mistake()
    """A kernel costs as much as the whole instruction that it is a part of."""
    drops_kernels_without_op = Mistake()
    """Kernels that name no op, and copies, are not listed."""
    takes_modules_for_ops = Mistake()
    """A kernel that names a whole program and no instruction is an op "XlaModule/…"."""
    counts_resting_gpus = Mistake()
    """Times per core are divided by all GPUs of the host, also by those that ran nothing."""
    adds_up_streams = Mistake()
    """Time in which several streams run counts once per stream."""

    # -------------------------------------------------------------------------------- steps of GPUs

    @property
    def most_gpu_steps_kept(self) -> int | None:
        """With more steps than this, the first and the last are left out; `None`: none ever is."""
        return 5 if self.on else None

    numbers_gpu_steps_by_group = Mistake()
    """A step's label is its group's number, not the number in the program's annotation."""
    zeroes_gpu_steps = Mistake()
    """A GPU's steps are known, but all of their numbers are 0, and they have no average."""

    # ------------------------------------------------------------------------------ device of a GPU

    doubles_shared_memory = Mistake()
    """Shared memory moves 256 bytes per SM and cycle on every NVIDIA part after Fermi."""
    takes_unknown_gpu_for_oldest = Mistake()
    """An NVIDIA part whose compute capability is unknown has the rates of the oldest one."""
    wants_bare_gfx_name = Mistake()
    """An AMD architecture is only known where the device's name is nothing else."""

    # ------------------------------------------------------------------------- costs from the HLO

    skips_called_programs = Mistake()
    """Comparators, reducers of collectives and asynchronous computations cost nothing."""
    misses_results_in_tuples = Mistake()
    """Results inside tuples, as library calls return them, do not count as memory traffic."""
    misses_cublas_gemm = Mistake()
    """Products by cuBLASLt have FLOPs, those of its predecessor have none."""
    has_one_compute_peak = Mistake()
    """All work is held against one peak, whatever unit does it."""

    # ------------------------------------------------------------------------------------- programs

    ignores_cpu_programs = Mistake()
    """A program that ran on the CPU has no ops."""

    # ---------------------------------------------------------------------------------------- hosts

    keeps_order_of_hosts = Mistake()
    """Hosts count in the order of their files, which the result depends on."""
    tells_hosts_by_device_type = Mistake()
    """A host of device type "CPU" is none of an accelerator's, even with TPU planes, and the
    last host's type is that of all."""
    forgets_device_flags = Mistake()
    """Combining hosts loses that a TPU has on-chip memories and Megacore."""
    renumbers_shared_steps = Mistake()
    """Steps that several hosts share are numbered again from 0."""
