import { spawnSync } from 'node:child_process';

/** Whether commands are installed. If not, CI fails, and other runs say what they skip. */
export function hasTools(...tools: readonly string[]): boolean {
  const missing = tools.filter((tool) => spawnSync(tool, ['--version']).status !== 0);
  if (missing.length === 0) return true;
  const message = `SKIPPED: tests were not run that need other programs: install ${missing.join(' and ')}`;
  if (process.env.CI !== undefined) throw new Error(message);
  console.error(message);
  return false;
}
