import { readdirSync, readFileSync } from 'node:fs';

// CPU time exact to nanoseconds, for work that is too short for `/proc/PID/stat`, which counts in
// 10 ms. On Linux only.

/** CPU seconds that the living threads of a process ran; 0 for a process that has exited. */
export function exactCpuSeconds(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + readThread(pid, thread), 0);
  } catch {
    return 0;
  }
}

/** CPU seconds of a process and its living children, such as PostgreSQL and its backends. */
export function exactFamilyCpuSeconds(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return [pid, ...children].reduce((sum, each) => sum + exactCpuSeconds(each), 0);
}

const readThread = (pid: number, thread: string): number =>
  Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e9;
