import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../free-port.ts';

const command = fileURLToPath(new URL('../../packages/service/cli/subreport.mjs', import.meta.url));

/** A service with the data of the demo, and who can sign in to its consoles. */
export interface DemoService {
  readonly origins: { readonly report: string; readonly operator: string };
  readonly client: { readonly client_id: string; readonly client_secret: string };
  readonly operatorToken: string;
  stop(): Promise<void>;
}

/** Starts `subreport serve --demo` in a folder of its own. */
export async function startDemoService(): Promise<DemoService> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-screenshots-'));
  const [port, managementPort] = [await freePort(), await freePort()];
  const environment = {
    ...process.env,
    DATA_DIR: folder,
    PORT: String(port),
    MANAGEMENT_PORT: String(managementPort),
  };
  const child = spawn(process.execPath, [command, 'serve', '--demo'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(child.stdout)) if (line.includes('"serving"')) break;
  child.stdout.resume();
  const data = join(folder, `demo-${port}`);
  const create = ['operator', 'create', '--name', 'ada', '--scopes', 'operator:read,operator:write,subscription:write'];
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...create, '--json'], {
    env: { ...environment, DATA_DIR: data },
  });
  return {
    origins: { report: `http://127.0.0.1:${port}`, operator: `http://127.0.0.1:${managementPort}` },
    client: JSON.parse(readFileSync(join(data, 'demo-client.json'), 'utf8')),
    operatorToken: JSON.parse(stdout).token,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}
