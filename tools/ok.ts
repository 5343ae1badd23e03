import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// The whole gate but the tests: format, lint and arrows, types, the contract's rules, the client's
// build and a consumer's types. `npm run ok` runs the tests as well;
// `npm run ok -- --without-tests` does not.

interface Step {
  readonly name: string;
  readonly run: () => string | undefined;
}

const withTests = !process.argv.includes('--without-tests');

const steps: readonly Step[] = [
  { name: 'format, lint and arrows (biome)', run: () => command('biome', ['ci', '--colors=off', '.']) },
  { name: 'comments of at most 100 columns', run: () => command('node', ['tools/check-comments.ts']) },
  { name: 'every export of src/ is imported', run: () => command('node', ['tools/check-exports.ts']) },
  { name: 'types (tsc)', run: () => command('tsc', []) },
  {
    name: 'contract under spectral:oas and OWASP rules',
    run: () => command('spectral', ['lint', 'openapi.json', '-r', 'tools/spectral.yaml', '--fail-severity=hint']),
  },
  { name: 'client and console build (tsc)', run: () => command('tsc', ['-p', 'tsconfig.build.json']) },
  { name: "a consumer's types against the built client", run: checkConsumer },
  ...(withTests ? [{ name: 'tests (vitest)', run: () => command('vitest', ['run']) }] : []),
];

let failed = 0;
for (const { name, run } of steps) {
  const started = performance.now();
  const output = run();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${output === undefined ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (output !== undefined) {
    failed += 1;
    console.log(output);
  }
}
console.log(`ok: ${steps.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** What a command printed when it failed, or nothing. */
function command(name: string, args: readonly string[], cwd = '.'): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(name, [...args], {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  return status === 0 ? undefined : `${stdout}${stderr}${error?.message ?? ''}`;
}

/**
 * Type-checks a program that uses the built client as a stranger would: strict, without Node's
 * types, without our sources.
 */
function checkConsumer(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-consumer-'));
  try {
    const client = join(process.cwd(), 'dist/src/client/index.js');
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
    return command(join(process.cwd(), 'node_modules/.bin/tsc'), [...flags, join(folder, 'consumer.ts')], folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function consumer(client: string): string {
  return `
import { ApiError, autoRenews, SubreportClient, type Subscription } from ${JSON.stringify(client)};
const client = new SubreportClient({ baseUrl: 'https://x/connect-api', tokenUrl: 'https://x/oauth2/token', clientId: 'a', clientSecret: 'b' });
export async function expiring(): Promise<string[]> {
  const ids: string[] = [];
  for await (const subscription of client.listSubscriptions({ status: 'ACTIVE', before: new Date(), size: 100 })) {
    const typed: Subscription = subscription;
    if (!autoRenews(typed)) ids.push(typed.id);
  }
  return ids;
}
export const isTooMany = (error: unknown): boolean => error instanceof ApiError && error.code === 'TOO_MANY_REQUESTS';
// @ts-expect-error a parameter that does not exist
void client.getPage({ productid: 'x' });
`;
}
