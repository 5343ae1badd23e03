import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { checkersFolder, hasCheckers } from './has-checkers.ts';

// All checks except the tests: format, lint and imports, types, rules of the contract, and the
// packages. `npm run ok` runs the tests as well; `npm run ok --
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
  { name: 'every export of packages/ is imported', run: () => command('node', ['tools/check-exports.ts']) },
  { name: 'limits of size', run: () => command('node', ['tools/size.ts', '--check']) },
  { name: 'the version is in the changelog', run: () => command('node', ['tools/check-release.ts']) },
  {
    name: 'bill of materials (npm sbom)',
    run: () => command('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--workspaces=false']),
  },
  // several checkers check the same types again: four take twice the CPU time
  { name: 'types (tsc)', run: () => command('tsc', ['--checkers', '1']) },
  {
    name: 'contract under spectral:oas and OWASP rules',
    run: async () => {
      if (!hasCheckers('the contract is not linted')) return undefined;
      const rules = ['-r', join(checkersFolder, 'spectral.yaml'), '--fail-severity=hint'];
      const spectral = join(checkersFolder, 'node_modules/.bin/spectral');
      return command(spectral, ['lint', 'openapi.json', 'openapi-operator.json', ...rules]);
    },
  },
  {
    name: 'compose.yaml and the manifests of Kubernetes against their schemas',
    run: async () =>
      hasCheckers('the files of deploy/ are not checked')
        ? command('node', [join(checkersFolder, 'check-deployments.ts')])
        : undefined,
  },
  { name: 'first page of each console of at most 90 kB', run: () => command('node', ['tools/console-weight.ts']) },
  {
    name: 'packages: compiled, checked by publint and arethetypeswrong, installed and used',
    run: async () =>
      (await command('node', ['tools/packages/pack.ts'])) ??
      (await command('node', ['tools/packages/try-packages.ts', '--quick'])),
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
async function command(name: string, args: readonly string[]): Promise<string | undefined> {
  const child = spawn(name, [...args], {
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
