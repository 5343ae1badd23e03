import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../../packages/', import.meta.url));

/** Records which files of `packages/` run; threads and other processes are not seen. */
export interface FileTrace {
  /** Files with a function that runs during `action`, such as `report/plan`. */
  during(action: () => Promise<unknown>): Promise<string[]>;
  stop(): void;
}

/** Starts counting calls with V8's precise coverage. */
export async function traceFiles(): Promise<FileTrace> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const take = async () => (await session.post('Profiler.takePreciseCoverage')).result;
  return {
    async during(action) {
      await take(); // resets the counts
      await action();
      return (await take())
        .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
        .map(({ url }) => url.replace(/^file:\/\//, ''))
        .filter((file) => file.startsWith(source))
        .map((file) => file.slice(source.length).replace(/^service\/|\.ts$/g, ''));
    },
    stop: () => session.disconnect(),
  };
}
