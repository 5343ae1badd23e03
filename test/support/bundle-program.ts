import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';

const packages = fileURLToPath(new URL('../../packages/', import.meta.url));
const folder = fileURLToPath(new URL('../../dist/test-program/', import.meta.url));
const keptMs = 86_400_000;

/**
 * Other files are found from the sources, and threads start from them: only the module that a
 * worker process runs is in the bundle.
 */
const sourceUrls: Plugin = {
  name: 'source-urls',
  transform: {
    filter: { code: 'import.meta.url' },
    handler: (code, id) =>
      code
        // written so that the next line leaves it
        .replace(`new URL('./worker.ts', import.meta.url)`, `new URL('./worker.js', import.meta['url'])`)
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
  },
};

/**
 * Bundles the programs with the packages that they use, and returns the path of the command line.
 * A service then starts in 0.3 s of CPU time instead of 0.55 s: it loads 70 files instead of 715.
 */
export async function bundleProgram(): Promise<string> {
  const files = await bundle();
  const hash = createHash('sha256');
  for (const { fileName, code } of files) hash.update(fileName).update(code);
  // the same sources have the same folder, so that Node finds its compiled code
  const target = join(folder, hash.digest('hex').slice(0, 16));
  if (!existsSync(target)) write(files, target);
  return join(target, 'main.js');
}

async function bundle(): Promise<readonly OutputChunk[]> {
  const built = await rolldown({
    input: {
      main: join(packages, 'service/cli/main.ts'),
      worker: join(packages, 'service/cli/serving/worker.ts'),
      mcp: join(packages, 'mcp/main.ts'),
    },
    platform: 'node',
    logLevel: 'silent',
    plugins: [sourceUrls],
  });
  try {
    const names = { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' };
    const { output } = await built.generate({ format: 'esm', ...names });
    return output.filter((file) => file.type === 'chunk');
  } finally {
    await built.close();
  }
}

/** Writes the files in one step, for concurrent runs; removes those of earlier days. */
function write(files: readonly OutputChunk[], target: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).mtimeMs < Date.now() - keptMs) rmSync(path, { recursive: true, force: true });
  }
  const unfinished = mkdtempSync(join(folder, 'unfinished-'));
  for (const { fileName, code } of files) writeFileSync(join(unfinished, fileName), code);
  chmodSync(unfinished, 0o755); // a test runs it as another user
  try {
    renameSync(unfinished, target);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    if (!existsSync(target)) throw error; // otherwise another run was faster
  }
}
