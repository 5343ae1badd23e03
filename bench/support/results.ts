import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { type Measured, ratioOf } from './compare.ts';

/** The environment of the measurement, without anything that identifies this machine. */
export function machineFacts(database = 'PostgreSQL 18 with its defaults but fsync off'): string {
  const [cpu] = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return [
    `${process.platform} ${process.arch}, ${cpus().length} × ${cpu?.model.trim() || 'processor'}, ${gigabytes} GB`,
    `Node ${process.versions.node}, SQLite ${process.versions.sqlite}, ${database}`,
    `load average ${loadavg()[0]?.toFixed(1)} when it ended`,
  ].join('; ');
}

/**
 * A table of sides, each also as a ratio to `base`: the median of the ratios of the rounds, with
 * the minimum and the maximum.
 */
export function resultTable(measured: readonly Measured[], base: string): string {
  const reference = measured.find(({ name }) => name === base);
  const hasDatabase = measured.some(({ cpuUs, totalUs }) => totalUs > cpuUs);
  const rows = measured.map((side) => {
    const { median, least, greatest } = ratioOf(side, reference ?? side, 'perSecond');
    const work = ratioOf(reference ?? side, side, 'cpuUs').median;
    const cells = [
      side.name,
      side.perSecond.toFixed(0),
      `${median.toPrecision(3)} (${least.toPrecision(2)}–${greatest.toPrecision(2)})`,
      side.p50Ms.toFixed(2),
      side.p99Ms.toFixed(2),
      side.cpuUs.toFixed(0),
      work.toPrecision(3),
      ...(hasDatabase ? [side.totalUs.toFixed(0)] : []),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const header = ['side', 'requests/s', `÷ ${base}`, 'p50 ms', 'p99 ms', 'CPU µs a request', `÷ ${base}, by CPU`];
  if (hasDatabase) header.push('with the database');
  return [`| ${header.join(' | ')} |`, `|${header.map(() => '---').join('|')}|`, ...rows].join('\n');
}

/** A file of results, and how it begins. */
export interface ResultsFile {
  readonly file: URL;
  readonly title: string;
}

const reportResults: ResultsFile = {
  file: new URL('../results/report.md', import.meta.url),
  title: `# The report, measured

Written by \`npm run bench -- report\` (\`bench/report/\`): each side in a separate process, in turn, in short rounds; medians. Ratios are comparable across machines
and days; requests per second are not. "CPU" is the CPU time of the server process, without that of PostgreSQL; it is least affected by other load on the machine. If
a side is faster than the load generator, which shares the machine, the CPU ratio is more meaningful than the ratio of requests.
`,
};

/** Replaces a section of the results, and prints it. */
export function writeSection(name: string, text: string, { file, title } = reportResults): void {
  const begin = `<!-- ${name} -->`;
  const end = `<!-- end of ${name} -->`;
  const section = `${begin}\n## ${name}\n\n${text}\n${end}\n`;
  const kept = existsSync(file) ? readFileSync(file, 'utf8') : title;
  const [before = '', rest] = kept.split(begin);
  const after = rest?.split(`${end}\n`)[1] ?? '';
  writeFileSync(file, rest === undefined ? `${kept}\n${section}` : before + section + after);
  console.log(section);
}
