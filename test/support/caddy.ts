import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startProxy } from './proxy.ts';

/** deploy/Caddyfile, which Caddy before 2.8 rejects. */
export const caddyfile = new URL('../../deploy/Caddyfile', import.meta.url);

/** What the installed Caddy says about deploy/Caddyfile; `error` if none is installed. */
export const adapted = spawnSync('caddy', ['adapt', '--config', fileURLToPath(caddyfile)], { encoding: 'utf8' });

/** Whether a Caddy is installed that accepts deploy/Caddyfile; CI does not need one. */
export const hasCaddy = adapted.status === 0;
if (!hasCaddy) console.error('SKIPPED: the service was not tested behind Caddy: install caddy, 2.8 or later');

/** Starts Caddy on a loopback port with deploy/Caddyfile, which `edit` may change, without TLS. */
export function startCaddy(port: string, servicePort: string, edit = (file: string): string => file) {
  const file = readFileSync(caddyfile, 'utf8')
    // one port for all Caddys of the machine
    .replace('auto_https disable_redirects', 'auto_https off\n\tadmin off');
  return startProxy(port, {
    command: ['caddy', 'run', '--config', 'FOLDER/Caddyfile'],
    files: { Caddyfile: edit(file) },
    environment: { SITE: `http://127.0.0.1:${port}`, UPSTREAM: `127.0.0.1:${servicePort}` },
  });
}
