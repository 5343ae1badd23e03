import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientProgram, type ImportStyle, programFile, readAll, typedProgram } from './client-programs.ts';
import { run } from './run.ts';
import { type DemoService, demoRecords } from './service.ts';

const readAllRecords = (count: string): string => {
  if (count.trim() !== String(demoRecords))
    throw new Error(`the client read ${count.trim()} of ${demoRecords} records`);
  return `${demoRecords} records`;
};

/** Runs a program that reads the whole report with the installed client. */
export async function tryRuntime(
  project: string,
  command: readonly string[],
  style: ImportStyle,
  service: DemoService,
): Promise<string> {
  const [file = '', ...args] = command;
  const program = programFile(style);
  writeFileSync(join(project, program), clientProgram(style, service));
  return readAllRecords(await run(file, [...args, program], { cwd: project }));
}

/** Type-checks a program against the installed client: strict, without the types of Node.js. */
export async function tryTypes(
  project: string,
  compiler: readonly string[],
  resolution: 'nodenext' | 'bundler',
): Promise<string> {
  writeFileSync(join(project, 'consumer.ts'), typedProgram);
  const compilerOptions = {
    module: resolution === 'nodenext' ? resolution : 'esnext',
    moduleResolution: resolution,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
  const [file = '', ...args] = compiler;
  await run(file, args, { cwd: project });
  return 'strict, no error';
}

/** Reads the whole report in a page of the service's origin, with the installed modules. */
export async function tryBrowser(project: string, service: DemoService): Promise<string> {
  // here, because its import throws in CI if there is no browser, and --quick needs none
  const { launchChromium } = await import('../../../test/support/chromium.ts');
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const library = join(project, 'node_modules/@subreport/client/lib');
    const modules = new Set(readdirSync(library, { recursive: true, encoding: 'utf8' }));
    await page.route(`${service.origin}/probe/**`, async (route) => {
      const file = new URL(route.request().url()).pathname.slice('/probe/'.length);
      if (file === '') await route.fulfill({ contentType: 'text/html', body: pageOf(service) });
      else if (modules.has(file))
        await route.fulfill({ contentType: 'text/javascript', body: readFileSync(join(library, file)) });
      else await route.fulfill({ status: 404 });
    });
    await page.goto(`${service.origin}/probe/`);
    await page.waitForFunction('document.title !== ""', undefined, { timeout: 300_000 });
    return readAllRecords(await page.title());
  } finally {
    await browser.close();
  }
}

const pageOf = (service: DemoService): string => `<!doctype html><title></title>
<script type="importmap">{ "imports": { "@subreport/client": "/probe/client/index.js" } }</script>
<script type="module">
import { createClient } from '@subreport/client';
${readAll(service)}
readAll().then((count) => { document.title = count; }, (error) => { document.title = error; });
</script>`;
