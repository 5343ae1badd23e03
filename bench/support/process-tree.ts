import { readdirSync, readFileSync } from 'node:fs';

/** One process, as `/proc/PID/stat` describes it. */
interface ProcessUse {
  readonly pid: number;
  readonly parent: number;
  /** CPU seconds of the process and of its children that have exited. */
  readonly cpuSeconds: number;
}

/** CPU seconds of some processes and all their descendants, living or exited; on Linux only. */
export const treeCpuSeconds = (...roots: readonly number[]): number =>
  treeOf(roots).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);

function treeOf(roots: readonly number[]): readonly ProcessUse[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readUse(Number(name)));
  const found = all.filter(({ pid }) => roots.includes(pid));
  // the list grows while it is read
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid));
  return found;
}

/** Fields 4 and 14 to 17, in hundredths of a second; the second field ends with the last `)`. */
function readUse(pid: number): ProcessUse[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return [{ pid, parent: Number(fields[1]), cpuSeconds: ticks / 100 }];
  } catch {
    return []; // it exited meanwhile
  }
}
