import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { UsageError } from '../../../terminal/error.ts';
import type { Config } from '../config.ts';

/**
 * Memory in MiB of the processes beside the workers: the one that supervises them, and the check of
 * the store, which runs in a process of its own.
 */
const besideWorkersMib = { supervisor: 64, check: 112 };

/** Memory of a process before its first request, in MiB: code, stacks and threads. */
const fixedMib = 64;

/**
 * Smallest share of a worker in MiB. With full caches and exports, one with a heap of 72 MiB was
 * measured at 220: 150 beside its heap, which has half of the share beyond `fixedMib`.
 */
const workerMibMin = 320;

/** Most workers of a service. */
export const workersMax = 64;

const mib = 1_048_576;

/** How the memory of the service is divided among its processes. */
interface MemoryPlan {
  /** Number of processes that serve requests; one needs no supervisor. */
  readonly workers: number;
  /**
   * Heap (old generation) of each process in MiB: half of its share without the fixed part, at most
   * the heap of this process. The other half is for memory off the heap.
   */
  readonly heapMib: number;
  /** Memory of all processes of the service in MiB. */
  readonly totalMib: number;
  /** Number of workers for which `auto` asked, if the memory is enough for fewer only. */
  readonly loweredFrom: number | undefined;
}

/**
 * Divides the memory of the service among `wanted` workers; `auto` takes one per CPU, or as many as
 * the memory is enough for. Throws `UsageError` if it is not enough for a given number.
 */
export function planMemory(
  { MEMORY_MAX_MIB }: Pick<Config, 'MEMORY_MAX_MIB'>,
  wanted: number | 'auto',
  cpus = availableParallelism(),
): MemoryPlan {
  const totalMib = MEMORY_MAX_MIB === 0 ? limitMib() : MEMORY_MAX_MIB;
  const ofWorkersMib = totalMib - besideWorkersMib.supervisor - besideWorkersMib.check;
  const most = Math.max(1, Math.floor(ofWorkersMib / workerMibMin));
  if (wanted !== 'auto' && wanted > most)
    throw new UsageError(
      `Cannot start ${wanted} workers: each needs ${workerMibMin} MiB of memory, so ${totalMib} MiB are enough for ${most}; use --workers auto, or give the service ${totalOf(wanted)} MiB (the limit of its container, or MEMORY_MAX_MIB)`,
    );
  const asked = wanted === 'auto' ? Math.min(cpus, workersMax) : wanted;
  const workers = Math.min(asked, most);
  const shareMib = workers === 1 ? totalMib - besideWorkersMib.check : ofWorkersMib / workers;
  const heapMib = Math.floor((shareMib - fixedMib) / 2);
  return {
    workers,
    heapMib: Math.min(Math.floor(getHeapStatistics().heap_size_limit / mib), Math.max(64, heapMib)),
    totalMib,
    loweredFrom: workers < asked ? asked : undefined,
  };
}

const totalOf = (workers: number): number =>
  workers * workerMibMin + besideWorkersMib.supervisor + besideWorkersMib.check;

/** The limit of the container in MiB; that of the machine if there is no lower one. */
const limitMib = (): number => Math.floor(Math.min(totalmem(), process.constrainedMemory() || totalmem()) / mib);

/**
 * Flags of Node.js for a worker. Its young generation would take up to 96 MiB, whatever the old one
 * has; in a container, Node.js gives it the same part of the heap as here.
 */
export function heapFlags(heapMib: number): readonly string[] {
  const semiSpaceMib = Math.min(16, Math.max(4, 2 ** Math.floor(Math.log2(heapMib / 64))));
  return [`--max-old-space-size=${heapMib}`, `--max-semi-space-size=${semiSpaceMib}`];
}
