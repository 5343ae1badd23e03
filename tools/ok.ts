import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

// All checks except the tests: format, lint and imports, types, rules of the contract, build of the
// client and a consumer's types. `npm run ok` runs the tests as well; `npm run ok --
// --without-tests` does not.

interface Step {
  readonly name: string;
  /** Resolves with the error output, if any. */
  readonly run: () => Promise<string | undefined>;
}

const withTests = !process.argv.includes('--without-tests');

/** Independent steps; the tests follow them. */
const checks: readonly Step[] = [
  { name: 'format, lint and imports (biome)', run: () => command('biome', ['ci', '--colors=off', '.']) },
  { name: 'comments of at most 100 columns', run: () => command('node', ['tools/check-comments.ts']) },
  { name: 'every export of src/ is imported', run: () => command('node', ['tools/check-exports.ts']) },
  { name: 'the version is in the changelog', run: () => command('node', ['tools/check-release.ts']) },
  { name: 'types (tsc)', run: () => command('tsc', []) },
  {
    name: 'contract under spectral:oas and OWASP rules',
    run: () =>
      command('spectral', [
        'lint',
        'openapi.json',
        'openapi-operator.json',
        '-r',
        'tools/spectral.yaml',
        '--fail-severity=hint',
      ]),
  },
  {
    name: "client and console build (tsc), and a consumer's types against the built client",
    run: async () => (await command('tsc', ['-p', 'tsconfig.build.json'])) ?? (await checkConsumer()),
  },
];
const tests: readonly Step[] = withTests ? [{ name: 'tests (vitest)', run: () => command('vitest', ['run']) }] : [];

const results = [...(await Promise.all(checks.map(runStep))), ...(await Promise.all(tests.map(runStep)))];
const failed = results.filter((passed) => !passed).length;
console.log(`ok: ${results.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** Runs a step, prints the result, and resolves with whether it passed. */
async function runStep({ name, run }: Step): Promise<boolean> {
  const started = performance.now();
  const output = await run();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${output === undefined ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (output !== undefined) console.log(output);
  return output === undefined;
}

/** The output of a failed command, or nothing. */
async function command(name: string, args: readonly string[], cwd = '.'): Promise<string | undefined> {
  const child = spawn(name, [...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  try {
    const [status] = await once(child, 'close');
    return status === 0 ? undefined : (await output).join('');
  } catch (error) {
    return String(error);
  }
}

/**
 * Type-checks a program that uses the built client like an external user: strict, without Node.js
 * types, without our sources.
 */
async function checkConsumer(): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-consumer-'));
  try {
    const client = join(process.cwd(), 'dist/browser/src/client/index.js');
    writeFileSync(join(folder, 'consumer.ts'), consumer(client));
    const flags = [
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--lib',
      'es2024,dom,dom.iterable',
      '--types',
      '',
    ];
    return await command(join(process.cwd(), 'node_modules/.bin/tsc'), [...flags, join(folder, 'consumer.ts')], folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function consumer(client: string): string {
  return `
import { ApiError, createClient, type Subscription } from ${JSON.stringify(client)};
const client = createClient({ baseUrl: 'https://x/connect-api', tokenUrl: 'https://x/oauth2/token', clientId: 'a', clientSecret: 'b' });
export async function expiring(): Promise<string[]> {
  const ids: string[] = [];
  for await (const subscription of client.subscriptions({ status: 'ACTIVE', before: new Date(), size: 100 })) {
    const typed: Subscription = subscription;
    if (typed.auto_renew === 'false') ids.push(typed.id);
  }
  return ids;
}
export const isTooMany = (error: unknown): boolean => error instanceof ApiError && error.code === 'TOO_MANY_REQUESTS';
// @ts-expect-error a parameter that does not exist
void client.subscriptions({ productid: 'x' });
`;
}
