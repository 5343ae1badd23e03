import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { mainProgram } from '../support/run-command.ts';
import type { Stage } from './stage.ts';

// A control group of Linux limits the memory of all processes in it, as that of a container does.

/** Names of the files of a control group, by the version of the interface. */
const interfaces = [
  {
    root: '/sys/fs/cgroup',
    limit: 'memory.max',
    used: /^anon (\d+)$/m,
    stat: 'memory.stat',
    kills: /^oom_kill (\d+)$/m,
    events: 'memory.events',
  },
  {
    root: '/sys/fs/cgroup/memory',
    limit: 'memory.limit_in_bytes',
    used: /^total_rss (\d+)$/m,
    stat: 'memory.stat',
    kills: /^oom_kill (\d+)$/m,
    events: 'memory.oom_control',
  },
] as const;

/** A control group with a limit. */
export interface LimitedMemory {
  /** Program and arguments that run `subreport` in it. */
  readonly program: readonly [string, ...string[]];
  /** Memory of its processes in MiB, without files that the kernel can drop. */
  usedMib(): number;
  /** Processes that the kernel has killed because they needed more. */
  kills(): number;
}

/** Creates a control group with some MiB until the drill ends. */
export function limitMemory(stage: Stage, mib: number): LimitedMemory {
  const { folder, ...files } = create(`${stage.random.seed()}-${mib}`);
  stage.defer(() => eventually(() => rmdirSync(folder))); // its processes have just ended
  writeFileSync(join(folder, files.limit), String(mib * 1_048_576));
  const program = stage.setting.program ?? [process.execPath, mainProgram];
  const read = (file: string, value: RegExp): number =>
    Number(value.exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? Number.NaN);
  return {
    program: ['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder, ...program],
    usedMib: () => read(files.stat, files.used) / 1_048_576,
    kills: () => read(files.events, files.kills),
  };
}

/** Whether this user may create control groups here that limit memory. */
export function canLimitMemory(): boolean {
  try {
    rmdirSync(create(`${process.pid}`).folder);
    return true;
  } catch {
    return false;
  }
}

function create(name: string) {
  for (const { root, ...files } of interfaces) {
    if (!existsSync(root)) continue;
    const folder = join(root, `subreport-drill-${name}`);
    mkdirSync(folder);
    if (existsSync(join(folder, files.limit))) return { folder, ...files };
    rmdirSync(folder);
  }
  throw new Error('the kernel must have a controller of memory');
}
