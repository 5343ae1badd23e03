import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { signIn, signInWith } from '../test/support/console-session.ts';
import { buildConsoles, consolesFolder } from './build-console.ts';
import { startDemoService } from './screenshots/demo-service.ts';

// Measures pages of the consoles with Lighthouse and the data of the demo: `npm run lighthouse`.
// Fails if a score is below the minimum. Downloads Lighthouse: it is too large for a dependency.
// `--only NAME` measures the pages whose name contains NAME, `--form-factor` one of the two, and
// `--runs 3` takes the best of three, on a machine that does other work too.

const lighthousePackage = 'lighthouse@13.5.0';
const scoreMin = 95;
const categories = ['performance', 'accessibility', 'best-practices', 'seo'] as const;

interface MeasuredPage {
  readonly name: string;
  readonly url: string;
  readonly cookie?: string;
}

/** The part of Lighthouse's result that this program reads. */
interface Result {
  readonly categories: Readonly<
    Record<string, { readonly score: number | null; readonly auditRefs: readonly { readonly id: string }[] }>
  >;
  readonly audits: Readonly<Record<string, { readonly title: string; readonly score: number | null }>>;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    runs: { type: 'string', default: '1' },
    'form-factor': { type: 'string', multiple: true, default: ['mobile', 'desktop'] },
  },
});
const run = promisify(execFile);

await buildConsoles(consolesFolder);
const service = await startDemoService();
try {
  const lighthouse = await installLighthouse();
  const pages = (await listPages()).filter(({ name }) => name.includes(values.only));
  console.log(`| page | form factor | ${categories.join(' | ')} |\n|---|---|${'---|'.repeat(categories.length)}`);
  for (const formFactor of values['form-factor'])
    for (const page of pages) report(page, formFactor, await measureBest(lighthouse, page, formFactor));
} finally {
  await service.stop();
}

async function listPages(): Promise<readonly MeasuredPage[]> {
  const { origins, client, operatorToken } = service;
  const report = await signIn(origins.report, client);
  const operator = await signInWith(origins.operator, { token: operatorToken });
  const records = await report.send('/connect-api/v1/subscription?size=1');
  const [{ id }] = (await records.json()) as [{ id: string }];
  const signedIn = (name: 'report' | 'operator', cookie: string, paths: Readonly<Record<string, string>>) =>
    Object.entries(paths).map(([page, path]) => ({
      name: `${name}: ${page}`,
      url: `${origins[name]}/console/${path}`,
      cookie,
    }));
  return [
    { name: 'report: /', url: `${origins.report}/` },
    { name: 'report: /docs', url: `${origins.report}/docs` },
    { name: 'report: sign-in', url: `${origins.report}/console/` },
    ...signedIn('report', report.cookie, {
      overview: '',
      subscriptions: 'subscriptions',
      record: `subscriptions/${id}`,
      changes: 'changes',
      findings: 'findings',
      exports: 'exports',
    }),
    { name: 'operator: sign-in', url: `${origins.operator}/console/` },
    ...signedIn('operator', operator.cookie, {
      health: '',
      tenants: 'tenants',
      tenant: 'tenants/demo',
      clients: 'clients',
      imports: 'imports',
      audit: 'audit',
      keys: 'keys',
      tokens: 'operators',
      settings: 'settings',
    }),
  ];
}

/** Returns the path of its command. */
async function installLighthouse(): Promise<string> {
  const { stdout } = await run('npm', ['exec', '--yes', '--package', lighthousePackage, '-c', 'command -v lighthouse']);
  return stdout.trim();
}

/** The result with the best performance: other work on the machine only makes it worse. */
async function measureBest(lighthouse: string, page: MeasuredPage, formFactor: string): Promise<Result> {
  const performanceOf = (result: Result): number => result.categories.performance?.score ?? 0;
  let best = await measure(lighthouse, page, formFactor);
  for (let run = 1; run < Number(values.runs) && performanceOf(best) < 1; run += 1) {
    const next = await measure(lighthouse, page, formFactor);
    if (performanceOf(next) > performanceOf(best)) best = next;
  }
  return best;
}

async function measure(lighthouse: string, { url, cookie }: MeasuredPage, formFactor: string): Promise<Result> {
  const options = [
    '--quiet',
    '--output=json',
    `--only-categories=${categories.join()}`,
    '--chrome-flags=--headless --no-sandbox --disable-gpu',
    ...(formFactor === 'desktop' ? ['--preset=desktop'] : []),
    ...(cookie === undefined ? [] : [`--extra-headers=${JSON.stringify({ Cookie: cookie })}`]),
  ];
  const { stdout } = await run(process.execPath, [lighthouse, url, ...options], { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}

function report({ name }: MeasuredPage, formFactor: string, { categories: measured, audits }: Result): void {
  const scores = categories.map((category) => Math.round((measured[category]?.score ?? 0) * 100));
  console.log(`| ${name} | ${formFactor} | ${scores.join(' | ')} |`);
  for (const [index, category] of categories.entries()) {
    if ((scores[index] ?? 0) >= scoreMin) continue;
    process.exitCode = 1;
    const failed = (measured[category]?.auditRefs ?? []).flatMap(({ id }) => audits[id] ?? []);
    for (const { title, score } of failed) if (score !== null && score < 0.9) console.error(`  ${category}: ${title}`);
  }
}
