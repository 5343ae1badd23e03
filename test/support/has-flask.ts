import { spawnSync } from 'node:child_process';

/** The Python that has Debian's packages. */
export const systemPython = '/usr/bin/python3';

/** Whether Debian's Flask is installed. If not, CI fails, and other runs say what they skip. */
export function hasFlask(): boolean {
  if (spawnSync(systemPython, ['-c', 'import flask']).status === 0) return true;
  const message = 'SKIPPED: no webhook was sent to Flask: apt-get install python3-flask';
  if (process.env.CI !== undefined) throw new Error(message);
  console.error(message);
  return false;
}
