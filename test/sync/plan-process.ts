import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { runOnSchedule } from '../../src/sync/run-plan.ts';
import { Schedule } from '../../src/sync/schedule.ts';

// node plan-process.ts STATE LOG START END: runs an entry at 02:30 in Berlin, and one each hour, by
// a clock that begins at START and goes from one instant to the next; a run takes 20 ms and writes
// a line to the log. A test starts two of these processes.

const [state = '', log = '', start = '', end = ''] = process.argv.slice(2);
const stop = new AbortController();
let now = new Date(start);
await runOnSchedule({
  entries: [
    { name: 'nightly', to: 'dir:x', schedule: new Schedule('30 2 * * *', 'Europe/Berlin') },
    { name: 'hourly', to: 'dir:y', schedule: new Schedule('0 * * * *', 'Europe/Berlin') },
  ],
  state,
  signal: stop.signal,
  clock: {
    now: () => now,
    async sleepUntil(at) {
      await sleep(10); // real time, so that the other process runs too
      if (at > now) now = at;
      if (now > new Date(end)) stop.abort();
    },
  },
  async run({ name }, scheduledFor) {
    appendFileSync(log, `${name} ${scheduledFor.toISOString()}\n`);
    await sleep(20);
    return { succeeded: true };
  },
  onEnd: () => undefined,
});
