// Loaded before a service (`--import`): measures the turns of its event loop in CPU time of the
// main thread only, because a busy machine makes a turn take longer but not cost more. A timer
// delimits the turns: it runs once per turn, and turns shorter than a millisecond count together.

const sampleMs = 1;
let [turns, longestMs] = [0, 0];
let last = cpuMs();
setInterval(() => {
  const now = cpuMs();
  turns += 1;
  longestMs = Math.max(longestMs, now - last);
  last = now;
}, sampleMs).unref();

/**
 * The message from a service to its parent: the turns since the last request, and the longest of
 * them.
 */
export interface MeasuredTurns {
  readonly turns: number;
  readonly longestMs: number;
}

process.on('message', () => {
  const measured: MeasuredTurns = { turns, longestMs };
  [turns, longestMs] = [0, 0];
  process.send?.(measured);
});
process.channel?.unref(); // the service stops as it would without a parent that listens

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
