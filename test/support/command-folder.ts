import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileCache } from './compile-cache.ts';
import { mainProgram } from './run-command.ts';

/** The code blocks of a page in one language, in order. */
export const blocksOf = (page: string, language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);

/** A temporary folder in which `npx subreport` runs the program, and the environment for it. */
export function makeCommandFolder(): { readonly folder: string; readonly environment: NodeJS.ProcessEnv } {
  const folder = mkdtempSync(join(tmpdir(), 'subreport docs-'));
  const bin = join(folder, '.bin');
  mkdirSync(bin);
  // from the bundle, if this is a run of tests: the sources take 2.5 times the CPU time
  writeFileSync(join(bin, 'subreport'), `#!/bin/sh\nexec '${process.execPath}' '${mainProgram}' "$@"\n`, {
    mode: 0o755,
  });
  // npx itself takes a second
  writeFileSync(join(bin, 'npx'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  const { HOME, PATH } = process.env;
  return { folder, environment: { HOME, PATH: `${bin}:${PATH}`, ...compileCache } };
}
