import { spawnSync } from 'node:child_process';

/** Whether commands are installed. If not, CI on Linux fails, and other runs say what they skip. */
export function hasTools(...tools: readonly string[]): boolean {
  const answers = (tool: string) => ['--version', 'version'].some((word) => spawnSync(tool, [word]).status === 0);
  const missing = tools.filter((tool) => !answers(tool));
  if (missing.length === 0) return true;
  const message = `SKIPPED: tests were not run that need other programs: install ${missing.join(' and ')}`;
  if (process.env.CI !== undefined && process.platform === 'linux') throw new Error(message);
  console.error(message);
  return false;
}
