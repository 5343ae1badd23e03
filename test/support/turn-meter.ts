// Loaded before a service (`--import`): measures the turns of its event loop in CPU time of its
// main thread and of no other, as a machine that is busy with other things makes a turn last longer
// but not cost more. A timer cuts the time into turns: it runs once a turn, and turns of less than
// a millisecond count together.

const sampleMs = 1;
let [turns, longestMs] = [0, 0];
let last = cpuMs();
setInterval(() => {
  const now = cpuMs();
  turns += 1;
  longestMs = Math.max(longestMs, now - last);
  last = now;
}, sampleMs).unref();

/** What a service tells its parent: the turns since it was asked last, and the longest of them. */
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
