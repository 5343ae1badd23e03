import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ReadyServer } from './announce-server.ts';

/** A server under measurement in a process of its own. */
export interface MeasuredServer extends ReadyServer {
  /** CPU time that its process used so far, in microseconds. */
  cpuMicros(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Starts a server file of this folder with a database, and waits until it listens. Its standard
 * output goes nowhere.
 */
export async function startServer(file: string, databaseUrl: string): Promise<MeasuredServer> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const failed = exited.then(([code]) => {
    throw new Error(`Cannot measure ${file}: it must run until it is stopped: it exited with ${code}`);
  });
  failed.catch(() => undefined);
  const [ready] = (await Promise.race([once(child, 'message'), failed])) as [ReadyServer];
  return {
    ...ready,
    async cpuMicros() {
      child.send('cpu');
      const [micros] = await Promise.race([once(child, 'message'), failed]);
      return micros as number;
    },
    async stop() {
      child.disconnect();
      await exited;
    },
  };
}
