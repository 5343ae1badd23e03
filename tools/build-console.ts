import { createHash } from 'node:crypto';
import { existsSync, globSync, watch } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { transform } from 'lightningcss';
import { rolldown } from 'rolldown';
import { bundleWorkers } from './bundle-workers.ts';
import { licenseTexts } from './license-texts.ts';

// Builds the consoles and the script of /docs into dist/console/: `npm run build`. With --watch, it
// builds again after each change.

const root = fileURLToPath(new URL('../', import.meta.url));
const sources = join(root, 'packages/console');

/** Where `npm run build` writes, and where the service reads. */
export const consolesFolder = join(root, 'dist/console');

/** A file below a folder of the output. */
interface BuiltFile {
  readonly name: string;
  readonly content: string;
}

/** A script, with the scripts that it imports statically. */
interface BuiltScript extends BuiltFile {
  readonly imports: readonly string[];
  /** Paths of the modules that it contains. */
  readonly modules: readonly string[];
  /** Its main module, if it is an entry or imported dynamically. */
  readonly source: string;
}

/** The page that each console shows first. */
const firstPages = { report: 'overview/overview-page.tsx', operator: 'health/health-page.tsx' } as const;

export type ConsoleName = keyof typeof firstPages;

/** Files that browsers request in a compressed form; smaller ones gain nothing. */
const compressedFrom = 1_000;

/** Builds everything into a folder, and removes the files of older builds. */
export async function buildConsoles(folder: string): Promise<void> {
  const built = [buildConsole('report', folder), buildConsole('operator', folder), buildReference(folder)];
  const scripts = (await Promise.all(built)).flat();
  await writeFile(join(folder, 'THIRD-PARTY-LICENSES.txt'), licenseTexts(scripts.flatMap(({ modules }) => modules)));
}

async function buildConsole(name: ConsoleName, folder: string): Promise<readonly BuiltScript[]> {
  const { scripts, style, icon, html } = await bundleConsole(name);
  const written = await writeFiles(join(folder, name), [
    ...[...scripts, style, icon].map((file) => ({ ...file, name: `static/${file.name}` })),
    { name: 'index.html', content: html },
  ]);
  await removeOthers(join(folder, name), written);
  return scripts;
}

/** The files that a browser loads to show the first page of a console. */
export async function filesOfFirstPage(name: ConsoleName): Promise<readonly BuiltFile[]> {
  const { scripts, style, icon, html } = await bundleConsole(name);
  const page = scripts.find(({ source }) => source.endsWith(firstPages[name]));
  const loaded = new Set([...withImports(scripts[0], scripts), ...withImports(page, scripts)]);
  return [...loaded, style, icon, { name: 'index.html', content: html }];
}

async function bundleConsole(name: ConsoleName) {
  const [scripts, style] = await Promise.all([bundle(join(sources, name, 'main.tsx')), buildStyle(name)]);
  const icon = hashed('icon.svg', await readFile(join(sources, name, 'icon.svg'), 'utf8'));
  return { scripts, style, icon, html: await renderPage({ scripts, style, icon }) };
}

/** A script and all that it imports statically. */
function withImports(script: BuiltScript | undefined, all: readonly BuiltScript[]): readonly BuiltScript[] {
  if (script === undefined) return [];
  const found = new Set([script]);
  for (const { imports } of found) for (const each of all) if (imports.includes(each.name)) found.add(each);
  return [...found];
}

async function buildReference(folder: string): Promise<readonly BuiltScript[]> {
  const scripts = await bundle(join(sources, 'reference/reference.ts'));
  await writeFiles(join(folder, 'reference'), [
    { name: 'reference.js', content: scripts[0]?.content ?? '' },
    { name: 'reference.css', content: await minified(['ui/tokens.css', 'reference/reference.css']) },
  ]);
  return scripts;
}

/** Bundles an entry; its first file is that of the entry. */
async function bundle(entry: string): Promise<readonly BuiltScript[]> {
  const built = await rolldown({
    input: entry,
    platform: 'browser',
    logLevel: 'warn',
    onLog: (_level, { code, message }, report) => {
      // the browser could not resolve it either
      if (code === 'UNRESOLVED_IMPORT') throw new Error(message);
      report('warn', message);
    },
    plugins: [bundleWorkers],
    transform: { target: 'es2023' },
  });
  try {
    const names = { entryFileNames: '[name]-[hash].js', chunkFileNames: '[name]-[hash].js' };
    // without it, the page of each console waits for a dozen files of a few hundred bytes
    const shared = { name: 'shared', minShareCount: 4 };
    // apart, because a worker imports it, where the code of pages fails
    const contract = {
      name: 'contract',
      test: /packages[\\/]contract[\\/](?!local-text)/,
      minShareCount: 2,
      priority: 1,
    };
    const codeSplitting = { groups: [contract, shared] };
    const { output } = await built.generate({ format: 'esm', minify: true, codeSplitting, ...names });
    const chunks = output.filter((file) => file.type === 'chunk');
    return chunks
      .sort((a, b) => Number(b.facadeModuleId === entry) - Number(a.facadeModuleId === entry))
      .map(({ fileName, code, imports, moduleIds, facadeModuleId }) => ({
        name: fileName,
        content: code,
        imports,
        modules: moduleIds,
        source: facadeModuleId ?? '',
      }));
  } finally {
    await built.close();
  }
}

/** One style sheet: tokens and layout, other styles of ui/ and charts/, those of the console. */
async function buildStyle(name: string): Promise<BuiltFile> {
  const files = ['ui/tokens.css', 'ui/base.css', 'ui/layout.css', ...['ui', 'charts', name].flatMap(stylesIn)];
  return hashed('style.css', await minified([...new Set(files)]));
}

/** The style sheets one after another. */
async function minified(files: readonly string[]): Promise<string> {
  const texts = await Promise.all(files.map((file) => readFile(join(sources, file), 'utf8')));
  const { code } = transform({ filename: 'style.css', code: Buffer.from(texts.join('\n')), minify: true });
  return new TextDecoder().decode(code);
}

const stylesIn = (folder: string): string[] => globSync(`${folder}/**/*.css`, { cwd: sources }).sort();

function hashed(name: string, content: string): BuiltFile {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 8);
  return { name: name.replace('.', `-${hash}.`), content };
}

interface PageFiles {
  readonly scripts: readonly BuiltScript[];
  readonly style: BuiltFile;
  readonly icon: BuiltFile;
}

async function renderPage({ scripts, style, icon }: PageFiles): Promise<string> {
  const template = await readFile(join(sources, 'ui/page.html'), 'utf8');
  const [entry, ...imports] = withImports(scripts[0], scripts);
  const url = (file: BuiltFile | undefined): string => `/console/static/${file?.name}`;
  return template
    .replace('{icon}', url(icon))
    .replace('{style}', url(style))
    .replace('{script}', url(entry))
    .replace(
      '<!-- imports -->',
      imports.map((file) => `<link rel="modulepreload" href="${url(file)}" />`).join('\n    '),
    );
}

/** Writes files with their compressed forms; returns the names. Known hashes are kept. */
async function writeFiles(folder: string, files: readonly BuiltFile[]): Promise<ReadonlySet<string>> {
  const names = await Promise.all(
    files.map(async ({ name, content }) => {
      const path = join(folder, name);
      const compressed = name.startsWith('static/') && content.length >= compressedFrom;
      const all = compressed ? [name, `${name}.br`, `${name}.gz`] : [name];
      if (compressed && all.every((each) => existsSync(join(folder, each)))) return all;
      await mkdir(dirname(path), { recursive: true });
      if (compressed) {
        const [br, gz] = await Promise.all([promisify(brotliCompress)(content), promisify(gzip)(content)]);
        await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
      }
      await writeFile(path, content);
      return all;
    }),
  );
  return new Set(names.flat());
}

async function removeOthers(folder: string, kept: ReadonlySet<string>): Promise<void> {
  const names = await readdir(join(folder, 'static'));
  const old = names.map((name) => `static/${name}`).filter((name) => !kept.has(name));
  await Promise.all(old.map((name) => rm(join(folder, name), { force: true })));
}

/** Builds after each change of a source; several changes at once make one build. */
function buildOnChange(): void {
  let timer: NodeJS.Timeout | undefined;
  const build = (): void => {
    const started = performance.now();
    buildConsoles(consolesFolder).then(
      () => console.log(`built in ${(performance.now() - started).toFixed(0)} ms`),
      (error: unknown) => console.error(error),
    );
  };
  for (const folder of [sources, join(root, 'packages/client')])
    watch(folder, { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(build, 50);
    });
}

if (import.meta.main) {
  await buildConsoles(consolesFolder);
  if (process.argv.includes('--watch')) buildOnChange();
}
