import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Subscription } from '../../packages/contract/subscription.ts';
import { freePort } from '../../tools/free-port.ts';
import { linkPackages } from '../examples/link-packages.ts';
import { makeCommandFolder } from '../support/command-folder.ts';
import { drawPart } from '../support/draw.ts';
import { eventually, startMsMax } from '../support/eventually.ts';
import { exampleEnds, exampleLines } from './example-lines.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/```(sh|http)\n([\s\S]*?)```/g)].map(([, language = '', text = '']) => ({
  language,
  text,
}));
const blockWith = (word: string): string => blocks.find(({ text }) => text.includes(word))?.text ?? '';

/** Header names and the shape of a body, as both the README and the service show them. */
const headersOf = (answer: string): string[] =>
  [...(answer.split(/\r?\n\r?\n/)[0] ?? '').matchAll(/^([a-z-]+):/gm)].map(([, name = '']) => name);
const bodyOf = (answer: string): unknown => JSON.parse(answer.split(/\r?\n\r?\n/)[1] ?? '');

const copied = [
  ...['package.json', '.npmrc', 'tsconfig.json', 'openapi.json', 'openapi-operator.json'],
  ...['packages', 'tools', 'examples'],
];

describe('the commands of the README', () => {
  let folder: string;
  let service: ChildProcess;
  let environment: NodeJS.ProcessEnv;
  /** npm has ended, and so has every process that writes to its output. */
  let isEnded = false;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'subreport-readme-'));
    for (const name of copied) cpSync(join(root, name), join(folder, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const port = await freePort();
    environment = { ...process.env, PORT: String(port), MANAGEMENT_PORT: '0', NO_COLOR: '1' };
    // npm ci has run already, or this test could not run
    const [, start = ''] = blockWith('npm start').trim().split(' && ');
    expect(start).toBe('npm start');
    service = spawn('npm', ['start'], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    service.on('close', () => {
      isEnded = true;
    });
    let printed = '';
    service.stdout?.on('data', (chunk) => {
      printed += chunk;
    });
    await eventually(() => expect(printed).toContain('"serving"'), startMsMax);
  });

  /** Runs a block with the port of a service that was started here. */
  const run = (block: string, env: NodeJS.ProcessEnv) =>
    spawnSync('bash', ['-c', block.replaceAll('8080', env.PORT ?? '')], { cwd: folder, env, encoding: 'utf8' });

  afterAll(async () => {
    // npm and its child processes
    if (service.pid !== undefined && !isEnded) process.kill(-service.pid, 'SIGTERM');
    await eventually(() => expect(isEnded).toBe(true));
    rmSync(folder, { recursive: true });
  });

  test('npm ci && npm start runs the demo, and curl prints what the README shows', () => {
    const { stdout, status } = run(blockWith('demo.env'), { ...environment, XDG_CONFIG_HOME: folder });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK/m);
    const shown = blocks.find(({ language }) => language === 'http')?.text ?? '';
    expect(headersOf(stdout)).toEqual(expect.arrayContaining(headersOf(shown)));
    expect(headersOf(shown).length).toBeGreaterThan(6);
    const [real, documented] = [bodyOf(stdout), bodyOf(shown)] as [Subscription[], Subscription[]];
    for (const records of [real, documented]) {
      expect(records).toHaveLength(1);
      expect(records.every((record) => Check(Subscription, record) && record.status === 'DEPLETED')).toBe(true);
    }
    const withoutDates = (text: string) => text.replaceAll(/"\d{4}-[^"]+"/g, '""');
    expect(withoutDates(JSON.stringify(documented))).toBe(withoutDates(JSON.stringify(real)));
    const totalOf = (answer: string) => /^x-total-count: (\d+)/m.exec(answer)?.[1];
    expect(totalOf(shown)).toBe(totalOf(stdout));
  });

  test('the lines of examples/README.md run against the demo', async () => {
    const lines = exampleLines(readFileSync(join(root, 'examples/README.md'), 'utf8'));
    expect(Object.keys(lines).toSorted()).toEqual(Object.keys(exampleEnds).toSorted());
    linkPackages(join(folder, 'examples'));
    writeFileSync(join(folder, 'webhook.secret'), `whsec_${Buffer.alloc(32, 7).toString('base64')}\n`);
    const commands = makeCommandFolder();
    onTestFinished(() => rmSync(commands.folder, { recursive: true }));
    const PATH = `${commands.environment.PATH}:${join(root, 'node_modules/.bin')}`;
    for (const [program, line] of drawPart(Object.entries(lines), 3)) {
      const here = line.replaceAll('8080', environment.PORT ?? '');
      await exampleEnds[program]?.(here, { cwd: folder, environment: { PATH, PORT: String(await freePort()) } });
    }
  });

  test.skipIf(process.platform === 'win32')('SIGTERM to npm alone ends the demo', async () => {
    service.kill('SIGTERM'); // its shell does not pass it on
    await eventually(() => expect(isEnded).toBe(true));
  });

  test('npm ci && npm test runs the tests, also in CI', () => {
    expect(blockWith('npm test').trim()).toBe('npm ci && npm test');
    expect(readFileSync(join(root, '.ci/run'), 'utf8')).toMatch(/^timed 'npm ci' npm ci;.*^\s*npm test /ms);
  });
});
