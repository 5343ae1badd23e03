import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

/** The day of the measurement. */
export const today = (): string => new Date().toISOString().slice(0, 10);

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

/** Prints a part of the results, and writes it into results.md in place of the former one. */
export function printSection(name: string, text: string, isWritten = false): void {
  console.log(`## ${name}\n\n${text}\n`);
  if (!isWritten) return;
  const file = new URL('../results.md', import.meta.url);
  const sections = readFileSync(file, 'utf8').split(/^(?=## )/m);
  const written = sections.map((each) => (each.startsWith(`## ${name}\n`) ? `## ${name}\n\n${text}\n\n` : each));
  writeFileSync(file, `${written.join('').trimEnd()}\n`);
}
