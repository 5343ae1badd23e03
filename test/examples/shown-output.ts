import { readFileSync } from 'node:fs';
import { blocksOf } from '../support/command-folder.ts';

const page = new URL('../../examples/README.md', import.meta.url);

/** The output that examples/README.md shows for a program. */
export function shownOutput(name: string): string {
  const [, section = ''] = readFileSync(page, 'utf8').split(`\n## ${name}\n`);
  return blocksOf(section.split('\n## ')[0] ?? '', 'text')[0] ?? '';
}
