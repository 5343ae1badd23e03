import { spawnSync } from 'node:child_process';

/** Whether all of these commands are installed. */
export const hasCommands = (...commands: readonly string[]): boolean =>
  commands.every((command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0);
