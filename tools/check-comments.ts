import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

// Refuses comments that reach beyond column 100; Biome's line width (120) is for code. A line with
// a URL may be wider. `node tools/check-comments.ts` prints each.

const columnsMax = 100;

/**
 * Comments, and what may look like one inside: strings, templates, regular expressions. A template
 * inside a template is read as two, which ends at the same place.
 */
const token = new RegExp(
  [
    /(?<comment>\/\/.*|\/\*[\s\S]*?\*\/)/,
    /'(?:\\.|[^'\\\n])*'/,
    /"(?:\\.|[^"\\\n])*"/,
    /`(?:\\[\s\S]|[^`\\])*`/,
    /(?<=[=(,:;!&|?{}[>]\s*|return )\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** A line on which a comment is too wide: its number, from 1, and its width. */
export interface WideLine {
  readonly line: number;
  readonly columns: number;
}

/** The lines of a TypeScript, JavaScript or CSS source on which a comment is too wide. */
export function wideComments(source: string): readonly WideLine[] {
  const lines = source.split('\n');
  const wide = new Map<number, WideLine>();
  for (const { index, groups } of source.matchAll(token)) {
    const comment = groups?.comment;
    if (comment === undefined) continue;
    const first = source.slice(0, index).split('\n').length;
    const last = first + comment.split('\n').length - 1;
    for (let line = first; line <= last; line += 1) {
      const text = lines[line - 1] ?? '';
      const columns = [...text].length;
      if (columns > columnsMax && !text.includes('://')) wide.set(line, { line, columns });
    }
  }
  return [...wide.values()];
}

if (import.meta.main) {
  const folders = ['packages', 'test', 'tools', 'bench', 'examples', '*.ts'];
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...folders], {
    encoding: 'utf8',
  });
  for (const file of files.split('\n').filter((name) => /\.(ts|mjs|css)$/.test(name))) {
    for (const { line, columns } of wideComments(readFileSync(file, 'utf8'))) {
      console.log(
        `${file}:${line} Cannot keep this comment: it must end by column ${columnsMax}: current column is ${columns}`,
      );
      process.exitCode = 1;
    }
  }
}
