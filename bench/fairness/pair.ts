import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Sample, TenantLoad } from './tenant-load.ts';

/** What one tenant experienced. */
export interface Experience {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /**
   * Responses to the other tenant while a request of this one was in progress, at the median and
   * the 99th percentile: it does not depend on the speed of the machine.
   */
  readonly overtaken50: number;
  readonly overtaken99: number;
  /** Share of responses with status 200, of this tenant and of the other one. */
  readonly accepted: number;
  readonly othersAccepted: number;
}

const program = fileURLToPath(new URL('./tenant-load.ts', import.meta.url));

/** Milliseconds for which the greedy tenant runs before the quiet one, to fill the queues. */
const leadMs = 500;

/** Runs the load of the quiet tenant, beside that of the greedy one if there is one. */
export async function runPair(quiet: TenantLoad, greedy: TenantLoad | undefined): Promise<Experience> {
  const others = greedy && runProcess({ ...greedy, seconds: greedy.seconds + leadMs / 1000 });
  if (greedy !== undefined) await sleep(leadMs);
  const [own, other = []] = await Promise.all([runProcess(quiet), others]);
  const served = other.filter(({ status }) => status === 200).map(({ doneNs }) => doneNs);
  served.sort((a, b) => a - b);
  const accepted = own.filter(({ status }) => status === 200);
  const waits = sorted(accepted.map(({ sentNs, doneNs }) => (doneNs - sentNs) / 1e6));
  const overtaken = sorted(accepted.map(({ sentNs, doneNs }) => rank(served, doneNs) - rank(served, sentNs)));
  return {
    p50Ms: at(waits, 0.5),
    p99Ms: at(waits, 0.99),
    overtaken50: at(overtaken, 0.5),
    overtaken99: at(overtaken, 0.99),
    accepted: accepted.length / own.length,
    othersAccepted: other.length === 0 ? 1 : served.length / other.length,
  };
}

async function runProcess(load: TenantLoad): Promise<readonly Sample[]> {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(load));
  return JSON.parse(await text(child.stdout)) as readonly Sample[];
}

const sorted = (values: readonly number[]): readonly number[] => values.toSorted((a, b) => a - b);

const at = (values: readonly number[], share: number): number =>
  values[Math.floor(values.length * share)] ?? Number.NaN;

/** Number of ascending values below a limit. */
function rank(values: readonly number[], limit: number): number {
  let low = 0;
  for (let high = values.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
