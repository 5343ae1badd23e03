import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Packages with which others check what is published; a manifest of their own lists them. */
export const checkersFolder = fileURLToPath(new URL('./checkers/', import.meta.url));

/** Whether they are installed; never false in CI. Otherwise says what is not checked. */
export function hasCheckers(unchecked: string): boolean {
  if (existsSync(`${checkersFolder}node_modules/.package-lock.json`)) return true;
  const message = `${unchecked}: install the checkers (npm run checkers)`;
  if (process.env.CI !== undefined) throw new Error(`Cannot check all: ${message}`);
  process.stderr.write(`SKIPPED: ${message}\n`);
  return false;
}
