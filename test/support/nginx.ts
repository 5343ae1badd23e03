import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';

const executable = ['/usr/sbin/nginx', '/usr/bin/nginx', '/usr/local/bin/nginx'].find((path) => existsSync(path));
if (executable === undefined) {
  const message = 'SKIPPED: the service was not tested behind nginx: install nginx (apt-get install nginx)';
  if (process.env.CI !== undefined) throw new Error(message);
  console.error(message);
}

/** Whether nginx is installed; never false in CI. */
export const hasNginx = executable !== undefined;

interface Nginx {
  /** Stops nginx; resolves when it has exited. */
  stop(): Promise<void>;
}

/**
 * Starts nginx on a loopback port with the site of deploy/nginx.conf, which `edit` may change,
 * before a service on another port; without TLS, as its certificate belongs to a name that does not
 * exist here.
 */
export async function startNginx(
  port: string,
  servicePort: string,
  edit: (site: string) => string = (site) => site,
): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-nginx-'));
  const site = readFileSync(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8')
    .replace('server 127.0.0.1:8080;', `server 127.0.0.1:${servicePort};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_.*\n/gm, '');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const config = `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr warn;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 256; }
http { access_log off; ${paths.join(' ')}
${edit(site)} }`;
  writeFileSync(join(folder, 'nginx.conf'), config);
  const child: ChildProcess = spawn(executable ?? 'nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
    const { status } = await fetch(`http://127.0.0.1:${port}/healthz`);
    if (status !== 200) throw new Error(`nginx responded with ${status}`);
  });
  return {
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}
