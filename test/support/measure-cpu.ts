import { afterAll, type RunnerTestFile } from 'vitest';
import { cpuSecondsOf } from './process-cpu.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** CPU seconds of a file and of what it has started, but for shared servers. */
    cpuSeconds?: number;
  }
}

/** A file begins where the one before it in this process has ended: its imports belong to it. */
const kept = globalThis as { cpuSecondsBefore?: number };

function measure(_context: unknown, file: { readonly meta: RunnerTestFile['meta'] }): void {
  const seconds = cpuSecondsOf(process.pid);
  file.meta.cpuSeconds = seconds - (kept.cpuSecondsBefore ?? 0);
  kept.cpuSecondsBefore = seconds;
}

// bound, because Vitest reads the names of the first parameter in the text of a function
afterAll(measure.bind(undefined));
