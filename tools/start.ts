import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

// `npm start` runs the demo. With `-- --origin`, a simulated service of somebody else runs beside
// it, and a mirror of it in a new tenant of the demo.

const root = fileURLToPath(new URL('../', import.meta.url));
const command = join(root, 'packages/service/cli/subreport.mjs');
const given = process.argv.slice(2);

// Not without npm, because a process that nohup started may outlive its parent.
if (process.env.npm_lifecycle_event === 'start') await import(join(root, 'packages/terminal/end-with-parent.mjs'));

if (given.includes('--origin')) await startBoth();
else {
  process.argv.splice(1, Number.POSITIVE_INFINITY, command, 'serve', '--demo', ...given);
  await import(command);
}

function run(args: readonly string[], env = process.env, output: 'inherit' | 'ignore' | 'pipe' = 'inherit') {
  return spawn(process.execPath, [command, ...args], { stdio: ['inherit', output, 'inherit'], env });
}

async function startBoth(): Promise<void> {
  const demo = run(['serve', '--demo', ...given.filter((each) => each !== '--origin')]);
  const exited = once(demo, 'exit');
  // Ctrl-C reaches the children from the terminal
  process.on('SIGINT', () => undefined).on('SIGTERM', () => demo.kill('SIGTERM'));
  await mirrorOrigin(demo);
  const [code] = await exited;
  process.exit(code ?? 1);
}

/** Starts the origin and, once the demo is ready, the mirror. */
async function mirrorOrigin(demo: ChildProcess): Promise<void> {
  const { calm, originCredentials, SimulatedOrigin } = await import('../test/origin/origin.ts');
  const port = process.env.PORT ?? '8080';
  const folder = resolve(process.env.DATA_DIR ?? 'data', `demo-${port}`);
  const client = join(folder, 'demo-client.json');
  rmSync(client, { force: true }); // the demo writes it once it listens
  const origin = new SimulatedOrigin(1, { ...calm, sizeMax: 100, changes: 0.05 }, 1_500);
  const url = await origin.listen();
  const isOver = (): boolean => demo.exitCode !== null || demo.signalCode !== null;
  while (!existsSync(client) && !isOver()) await sleep(200);
  if (isOver()) return origin.close();
  const config = join(folder, 'mirror-demo');
  mkdirSync(join(config, 'subreport/profiles'), { recursive: true, mode: 0o700 });
  const { clientId: client_id, clientSecret: client_secret } = originCredentials;
  const profile = { base_url: `${url}/connect-api`, token_url: `${url}/token`, client_id, client_secret };
  writeFileSync(join(config, 'subreport/profiles/origin.json'), JSON.stringify(profile), { mode: 0o600 });
  const env = { ...process.env, DATA_DIR: folder, XDG_CONFIG_HOME: config };
  const tenant = `mirrored-${new Date()
    .toISOString()
    .slice(0, 19)
    .replaceAll(/[^0-9]/g, '')}`;
  await once(run(['tenant', 'create', tenant], env, 'ignore'), 'exit');
  const created = run(['client', 'create', '--tenant', tenant, '--json'], env, 'pipe');
  const reader = JSON.parse(await text(created.stdout as Readable));
  const file = join(folder, 'mirror-client.json');
  writeFileSync(file, JSON.stringify(reader, null, 2), { mode: 0o600 });
  console.log(`The service of somebody else is ${url}/connect-api. The tenant ${tenant} mirrors it.
Sign in at http://127.0.0.1:${port}/console as ${reader.client_id}, with the secret in ${file}
How old the mirror is:
  XDG_CONFIG_HOME=${config} npx subreport mirror --from origin --to-tenant ${tenant} --status`);
  const scopes = 'operator:read,subscription:write';
  const operator = run(
    ['operator', 'create', '--name', tenant, '--scopes', scopes, '--expires-days', '30', '--json'],
    env,
    'pipe',
  );
  const { token } = JSON.parse(await text(operator.stdout as Readable));
  const server = `http://127.0.0.1:${process.env.MANAGEMENT_PORT ?? '9464'}`;
  const mirror = run(['mirror', '--from', 'origin', '--to-tenant', tenant, '--max-requests-per-minute', '1200'], {
    ...env,
    SUBREPORT_SERVER: server,
    SUBREPORT_OPERATOR_TOKEN: token,
  });
  demo.once('exit', () => {
    mirror.kill('SIGTERM');
    origin.close();
  });
}
