import { readFileSync } from 'node:fs';
import { isInstalled, type ProxyProgram, startProxy } from './proxy.ts';

/** Whether nginx is installed; never false in CI. */
export const hasNginx = isInstalled('nginx');

const deployed = readFileSync(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8');

/**
 * nginx on a loopback port with the site of deploy/nginx.conf, which `edit` may change, before a
 * service on another port; without TLS, as its certificate belongs to a name that does not exist
 * here.
 */
export function nginx(port: string, servicePort: string, edit = (site: string): string => site): ProxyProgram {
  const site = deployed
    .replace('server 127.0.0.1:8080;', `server 127.0.0.1:${servicePort};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_.*\n/gm, '');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path FOLDER/${name};`);
  const config = `daemon off; worker_processes 1; pid FOLDER/pid; error_log stderr warn;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 256; }
http { access_log off; ${paths.join(' ')}
${edit(site)} }`;
  return { command: ['nginx', '-p', 'FOLDER', '-c', 'nginx.conf', '-e', 'stderr'], files: { 'nginx.conf': config } };
}

export const startNginx = (...given: Parameters<typeof nginx>) => startProxy(given[0], nginx(...given));
