import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tools/free-port.ts';
import type { MeasuredTurns, TurnWork } from './turn-meter.ts';

const main = fileURLToPath(new URL('../../packages/service/cli/main.ts', import.meta.url));
const meter = fileURLToPath(new URL('./turn-meter.ts', import.meta.url));

/** A service in a child process whose event loop turns are measured. */
export interface MeteredService {
  readonly url: string;
  readonly pid: number;
  /** URL of the management listener. */
  readonly management: string;
  /** The turns since the last call. */
  takeTurns(): Promise<MeasuredTurns>;
  /** Works on the store in the main thread of the service; from then on turns are measured. */
  work(work: TurnWork): Promise<void>;
  /** Stops the service as an operator would; resolves to its exit code. */
  stop(): Promise<number | null>;
}

/**
 * Starts `subreport serve` with the turn meter loaded into its main thread; resolves once the
 * service responds.
 */
export async function startMeteredService(environment: Readonly<Record<string, string>>): Promise<MeteredService> {
  const [port, managementPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, ['--import', meter, main, 'serve'], {
    env: {
      PATH: process.env.PATH ?? '',
      LOG_LEVEL: 'error',
      REQUEST_SECONDS_MAX: '60', // request timeouts are not what is measured
      PORT: String(port),
      MANAGEMENT_PORT: String(managementPort),
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const url = `http://127.0.0.1:${port}`;
  const ask = async (message: 'turns' | TurnWork): Promise<unknown> => {
    child.send(message);
    const [answer] = await once(child, 'message');
    return answer;
  };
  await untilHealthy(child, url);
  return {
    url,
    pid: child.pid ?? 0,
    management: `http://127.0.0.1:${managementPort}`,
    takeTurns: async () => (await ask('turns')) as MeasuredTurns,
    work: async (work) => void (await ask(work)),
    async stop() {
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      return code as number | null;
    },
  };
}

async function untilHealthy(child: ChildProcess, url: string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    const response = await fetch(`${url}/healthz`).catch(() => undefined);
    if (response?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
