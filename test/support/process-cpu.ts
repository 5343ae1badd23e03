import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Clock ticks per second in /proc, on every Linux. */
const ticksPerSecond = 100;

/** A running process, with the CPU seconds of itself and of the children that have ended. */
interface RunningProcess {
  readonly name: string;
  readonly parent: number;
  readonly seconds: number;
}

/** All processes, by id; none where there is no /proc. */
export function readProcesses(): ReadonlyMap<number, RunningProcess> {
  const ids = existsSync('/proc/self/stat') ? readdirSync('/proc').map(Number).filter(Boolean) : [];
  return new Map(ids.flatMap((id) => readProcess(id)));
}

function readProcess(id: number): readonly [number, RunningProcess][] {
  try {
    const [, name = '', rest = ''] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${id}/stat`, 'utf8')) ?? [];
    const fields = rest.split(' ').map(Number);
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + each);
    return [[id, { name, parent: fields[1] ?? 0, seconds: ticks / ticksPerSecond }]];
  } catch {
    return []; // it has ended
  }
}

/** CPU seconds of a process and of all that it has started, but what lost its parent. */
export function cpuSecondsOf(id: number, processes = readProcesses()): number {
  let seconds = processes.get(id)?.seconds ?? 0;
  for (const [child, { parent }] of processes) if (parent === id) seconds += cpuSecondsOf(child, processes);
  return seconds;
}
