import { getHeapStatistics } from 'node:v8';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UsageError } from '../../../terminal/error.ts';
import { heapFlags, planMemory, workersMax } from './plan-memory.ts';

const mib = 1_048_576;
const plan = (totalMib: number, wanted: number | 'auto', cpus = 2) =>
  planMemory({ MEMORY_MAX_MIB: totalMib }, wanted, cpus);

test.each([
  [512, 16, 1, 16],
  [1_024, 16, 2, 16],
  [2_048, 16, 5, 16],
  [2_048, 4, 4, undefined],
  [65_536, 128, workersMax, undefined],
])('%d MiB are enough for some workers of %d CPUs: %d', (totalMib, cpus, workers, loweredFrom) => {
  expect(plan(totalMib, 'auto', cpus)).toMatchObject({ workers, loweredFrom });
});

test('a given number of workers that needs more memory than there is names the possible one', () => {
  expect(() => plan(2_048, 16)).toThrow(UsageError);
  expect(() => plan(2_048, 16)).toThrow(
    /^Cannot start 16 workers: each needs 320 MiB of memory, so 2048 MiB are enough for 5; use --workers auto, or give the service 5296 MiB/,
  );
});

test('one process starts, however little memory there is', () => {
  expect(plan(1, 1)).toMatchObject({ workers: 1, heapMib: 64, loweredFrom: undefined });
  expect(plan(1, 'auto')).toMatchObject({ workers: 1 });
});

test('the heaps of all workers take at most half of the memory of the service', () => {
  fc.assert(
    fc.property(fc.integer({ min: 512, max: 1_000_000 }), fc.integer({ min: 1, max: 128 }), (totalMib, cpus) => {
      const { workers, heapMib } = plan(totalMib, 'auto', cpus);
      expect(workers * heapMib).toBeLessThanOrEqual(totalMib / 2);
      expect(heapMib).toBeGreaterThanOrEqual(64);
      expect(heapMib).toBeLessThanOrEqual(getHeapStatistics().heap_size_limit / mib);
    }),
  );
});

test('without the setting, the memory is that of the container or the machine', () => {
  expect(plan(0, 1).totalMib).toBeGreaterThan(0);
  expect(plan(0, 1).totalMib).toBeLessThanOrEqual(Math.ceil(process.constrainedMemory() / mib) || Number.MAX_VALUE);
});

test.each([
  [64, 4],
  [256, 4],
  [512, 8],
  [4_096, 16],
])('a heap of %d MiB has a young generation of three times %d MiB', (heapMib, semiSpaceMib) => {
  expect(heapFlags(heapMib)).toEqual([`--max-old-space-size=${heapMib}`, `--max-semi-space-size=${semiSpaceMib}`]);
});
