import { dirname } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { cpuSecondsOf, readProcesses } from './process-cpu.ts';

/** Lines of the table; smaller suites are one. */
const linesMax = 40;

/** Prints the CPU seconds of a run by folder, or by file with CPU_BY_FILE=1. */
export const cpuReporter: Reporter = {
  onTestRunEnd(modules) {
    if (process.env.ALL !== '1') console.log(`Drawn by DRAW=${process.env.DRAW}; ALL=1 runs everything`);
    const processes = readProcesses();
    if (!processes.has(process.pid)) return;
    const suites = new Map<string, number>();
    const add = (suite: string, seconds: number) => suites.set(suite, (suites.get(suite) ?? 0) + seconds);
    for (const module of modules) add(suiteOf(module), module.meta().cpuSeconds ?? 0);
    for (const [id, { name, parent }] of processes)
      if (name === 'postgres' && parent === process.pid) add('PostgreSQL servers', cpuSecondsOf(id, processes));
    // the processes of tests may have been killed, and then count no seconds of what they started
    add('vitest and bundles', ownCpuSeconds());
    const total = [...suites.values()].reduce((sum, each) => sum + each);
    const rows = [...suites].sort(([, one], [, other]) => other - one);
    const rest = rows.splice(linesMax - 2).reduce((sum, [, seconds]) => sum + seconds, 0);
    if (rest > 0) rows.push(['other suites', rest]);
    console.log('CPU seconds by suite:');
    for (const [suite, seconds] of [...rows, ['all', total] as const])
      console.log(`${seconds.toFixed(1).padStart(8)}  ${suite}`);
  },
};

function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

const suiteOf = ({ project, relativeModuleId }: TestModule): string =>
  `${project.name}: ${process.env.CPU_BY_FILE === undefined ? dirname(relativeModuleId) : relativeModuleId}`;
