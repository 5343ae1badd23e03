import { cpus, loadavg, totalmem } from 'node:os';
import { type Measured, ratioOf } from './compare.ts';

/** The environment of the measurement, without anything that identifies this machine. */
export function machineFacts(): string {
  const [cpu] = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return [
    `${process.platform} ${process.arch}, ${cpus().length} × ${cpu?.model.trim() || 'processor'}, ${gigabytes} GB`,
    `Node ${process.versions.node}, SQLite ${process.versions.sqlite}, PostgreSQL 18 with its defaults but fsync off`,
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

/** Prints a part of the results. */
export const printSection = (name: string, text: string): void => console.log(`## ${name}\n\n${text}\n`);
