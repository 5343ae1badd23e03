import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, startMsMax } from './eventually.ts';

/** deploy/Caddyfile, which Caddy before 2.8 rejects. */
export const caddyfile = new URL('../../deploy/Caddyfile', import.meta.url);

/** What the installed Caddy says about deploy/Caddyfile; `error` if none is installed. */
export const adapted = spawnSync('caddy', ['adapt', '--config', fileURLToPath(caddyfile)], { encoding: 'utf8' });

/** Whether a Caddy is installed that accepts deploy/Caddyfile; CI does not need one. */
export const hasCaddy = adapted.status === 0;
if (!hasCaddy) console.error('SKIPPED: the service was not tested behind Caddy: install caddy, 2.8 or later');

/** Starts Caddy on a loopback port with deploy/Caddyfile, which `edit` may change, without TLS. */
export async function startCaddy(
  port: string,
  servicePort: string,
  edit: (file: string) => string = (file) => file,
): Promise<{ stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-caddy-'));
  const file = readFileSync(caddyfile, 'utf8')
    // one port for all Caddys of the machine
    .replace('auto_https disable_redirects', 'auto_https off\n\tadmin off');
  writeFileSync(join(folder, 'Caddyfile'), edit(file));
  const child: ChildProcess = spawn('caddy', ['run', '--config', join(folder, 'Caddyfile')], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      SITE: `http://127.0.0.1:${port}`,
      UPSTREAM: `127.0.0.1:${servicePort}`,
    },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`Caddy ended with ${child.exitCode}`);
    await (await fetch(`http://127.0.0.1:${port}/healthz`)).arrayBuffer();
  }, startMsMax);
  return {
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}
