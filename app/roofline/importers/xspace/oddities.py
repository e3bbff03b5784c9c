"""Where XProf 2.24.2 reads a capture differently from what is right, one property each.

Comparison mode switches all of them on, and then every cell equals XProf's own table. Measured on
XProf itself.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Oddities:
    """The mistakes of XProf: all of them, or none."""

    on: bool

    # ---------------------------------------------------------------------------- ops of a TPU core

    @property
    def wraps_self_time(self) -> bool:
        """Self time of an op that is shorter than the ops inside it wraps below zero."""
        return self.on

    @property
    def wraps_negative_costs(self) -> bool:
        """A negative count of FLOPs or bytes becomes 2**64 minus something."""
        return self.on

    @property
    def drops_ops_without_id(self) -> bool:
        """Ops of unknown program or instruction are not listed; what they take counts as idle."""
        return self.on

    @property
    def leaves_unsplit_bytes_out_of_programs(self) -> bool:
        """Bytes that a kernel states itself are HBM's in its row, and missing in its program's."""
        return self.on

    @property
    def joins_captures(self) -> bool:
        """Captures of one host, one after the other, count as hosts of one run."""
        return self.on

    @property
    def pairs_steps_without_overlap(self) -> bool:
        """Hosts whose steps share no time share their first ones all the same."""
        return self.on

    @property
    def times_an_empty_plane(self) -> bool:
        """A plane without any event lasts a picosecond."""
        return self.on

    @property
    def last_op_line_counts(self) -> bool:
        """Of several op lines the last one makes the steps, even without an event of any step."""
        return self.on

    # -------------------------------------------------------------------------------- steps of TPUs

    @property
    def reads_signed_group_ids(self) -> bool:
        """Markers read `group_id` as int64 only: ids written as uint64 all become step 0."""
        return self.on

    @property
    def counts_roots_without_launch(self) -> bool:
        """Cores that no launch links to the host's steps are numbered after all of these."""
        return self.on

    @property
    def forgets_cores_before_a_gap(self) -> bool:
        """Cores that share no step with those before them are forgotten together with them."""
        return self.on

    @property
    def files_steps_by_plane_id(self) -> bool:
        """Step data are kept by plane id: of planes with equal ids the last one counts."""
        return self.on

    # ------------------------------------------------------------------------------ device of a TPU

    @property
    def takes_peaks_of_first_plane(self) -> bool:
        """Peaks are those of the first TPU plane: a SparseCore in front zeroes them."""
        return self.on

    # ------------------------------------------------------------------------------ kernels of GPUs

    @property
    def compares_whole_line_ids(self) -> bool:
        """A derived line is known by all 64 bits of its id, of which some writers keep 32."""
        return self.on

    @property
    def leaves_out_line_start(self) -> bool:
        """The span of a GPU's events leaves out when their lines start."""
        return self.on

    @property
    def charges_every_kernel(self) -> bool:
        """A kernel costs as much as the whole instruction that it is a part of."""
        return self.on

    @property
    def drops_kernels_without_op(self) -> bool:
        """Kernels that name no op, and copies, are not listed."""
        return self.on

    @property
    def takes_modules_for_ops(self) -> bool:
        """A kernel that names a whole program and no instruction is an op "XlaModule/…"."""
        return self.on

    @property
    def counts_resting_gpus(self) -> bool:
        """Times per core are divided by all GPUs of the host, also by those that ran nothing."""
        return self.on

    @property
    def adds_up_streams(self) -> bool:
        """Time in which several streams run counts once per stream."""
        return self.on

    # -------------------------------------------------------------------------------- steps of GPUs

    @property
    def most_gpu_steps_kept(self) -> int | None:
        """With more steps than this, the first and the last are left out; `None`: none ever is."""
        return 5 if self.on else None

    @property
    def numbers_gpu_steps_by_group(self) -> bool:
        """A step's label is its group's number, not the number in the program's annotation."""
        return self.on

    @property
    def zeroes_gpu_steps(self) -> bool:
        """A GPU's steps are known, but all of their numbers are 0, and they have no average."""
        return self.on

    # ------------------------------------------------------------------------------ device of a GPU

    @property
    def doubles_shared_memory(self) -> bool:
        """Shared memory moves 256 bytes per SM and cycle on every NVIDIA part after Fermi."""
        return self.on

    @property
    def takes_unknown_gpu_for_oldest(self) -> bool:
        """An NVIDIA part whose compute capability is unknown has the rates of the oldest one."""
        return self.on

    @property
    def wants_bare_gfx_name(self) -> bool:
        """An AMD architecture is only known where the device's name is nothing else."""
        return self.on

    # ------------------------------------------------------------------------- costs from the HLO

    @property
    def skips_called_programs(self) -> bool:
        """Comparators, reducers of collectives and asynchronous computations cost nothing."""
        return self.on

    @property
    def misses_results_in_tuples(self) -> bool:
        """Results inside tuples, as library calls return them, do not count as memory traffic."""
        return self.on

    @property
    def misses_cublas_gemm(self) -> bool:
        """Products by cuBLASLt have FLOPs, those of its predecessor have none."""
        return self.on

    @property
    def has_one_compute_peak(self) -> bool:
        """All work is held against one peak, whatever unit does it."""
        return self.on

    # ------------------------------------------------------------------------------------- programs

    @property
    def ignores_cpu_programs(self) -> bool:
        """A program that ran on the CPU has no ops."""
        return self.on

    # ---------------------------------------------------------------------------------------- hosts

    @property
    def keeps_order_of_hosts(self) -> bool:
        """Hosts count in the order of their files, which the result depends on."""
        return self.on

    @property
    def tells_hosts_by_device_type(self) -> bool:
        """A host of device type "CPU" is none of an accelerator's, even with TPU planes, and the
        last host's type is that of all."""
        return self.on

    @property
    def forgets_device_flags(self) -> bool:
        """Combining hosts loses that a TPU has on-chip memories and Megacore."""
        return self.on

    @property
    def renumbers_shared_steps(self) -> bool:
        """Steps that several hosts share are numbered again from 0."""
        return self.on
