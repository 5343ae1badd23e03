/**
 * CPU milliseconds of the work below on the machine on which limits of CPU time were set, with two
 * cores and others at work; 20 when nothing else runs.
 */
const referenceMs = 30;

/** How many times slower this machine is, at least 1. Limits of CPU time are multiplied by it. */
export function machineSlowness(): number {
  const runs = Array.from({ length: 5 }, () => {
    const begun = process.threadCpuUsage();
    fixedWork();
    const { user, system } = process.threadCpuUsage(begun);
    return (user + system) / 1000;
  });
  return Math.max(1, Math.min(...runs) / referenceMs);
}

/** What the service does much of: writing and reading JSON. */
function fixedWork(): void {
  const record = { id: 'a'.repeat(36), status: 'ACTIVE', product: { id: 'p', period: 30 }, deviceIds: ['d', 'e'] };
  for (let n = 0; n < 20_000; n += 1) JSON.parse(JSON.stringify({ ...record, n }));
}
