#!/usr/bin/env bash
# expert_parallel_test.sh PROGRAM PROCESSES: the program under mpirun, on this machine alone. 77: nothing can be started
# here, and why.
set -euo pipefail
program=$1 processes=$2
# Root may (a container has nobody else), more processes than cores may, and only shared memory is used: no network, no
# other machine.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
  OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm=isolated

if ! command -v mpirun >/dev/null; then
  echo "skipped: there is no mpirun (openmpi-bin)"
  exit 77
fi
if ! said=$(mpirun -n "$processes" true 2>&1 </dev/null); then
  echo "skipped: mpirun starts no process here:"
  head -5 <<<"$said"
  exit 77
fi
exec mpirun -n "$processes" "$program" </dev/null
