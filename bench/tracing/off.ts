import type { IncomingMessage } from 'node:http';
import { inSpan, traceOf } from '../../src/tracing/span.ts';
import { inStatement } from '../../src/tracing/statement-span.ts';

// CPU time of the calls that a request makes while traces are off: npm run bench -- traces
// Each figure is the least of many rounds, less that of the same work without the call.

const calls = 2_000_000;
const request = { headers: { host: 'localhost' } } as unknown as IncomingMessage;
let sum = 0;
const work = (): number => {
  sum += 1;
  return sum;
};

const leastNs = (run: () => void): number => {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 30; round += 1) {
    const before = process.cpuUsage();
    for (let call = 0; call < calls; call += 1) run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, ((user + system) * 1000) / calls);
  }
  return least;
};

const bare = leastNs(() => void work());
for (const [name, run] of [
  ['inSpan', () => void inSpan('parse', work)],
  ['inStatement', () => void inStatement({ system: 'sqlite' }, 'select 1', work)],
  ['traceOf', () => void traceOf(request)],
] as const)
  console.log(`${name}: ${Math.max(0, leastNs(run) - bare).toFixed(1)} ns`);
