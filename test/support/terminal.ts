import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from './eventually.ts';
import { commandEnvironment, mainProgram } from './run-command.ts';

/** Whether `script` of util-linux can open a pseudo-terminal; CI must have it. */
export const hasTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true;
if (!hasTerminal) {
  const message = 'Cannot test in a terminal: script of util-linux must be installed';
  if (process.env.CI !== undefined) throw new Error(message);
  console.warn(`${message}: skipped`);
}

/** A command in a pseudo-terminal. */
export interface TerminalCommand {
  /** Everything that the terminal shows. */
  readonly shown: () => string;
  /** Waits until the terminal shows a string. */
  until(text: string): Promise<void>;
  /** Types keys. */
  type(keys: string): void;
  readonly ended: Promise<{ readonly code: number | null; readonly shown: string }>;
}

/** Starts `subreport` in a pseudo-terminal of some columns. */
export function startInTerminal(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  columns = 100,
): TerminalCommand {
  const { NO_COLOR: _none, ...inherited } = commandEnvironment;
  const words = [process.execPath, mainProgram, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', `stty cols ${columns}; exec ${words}`, '/dev/null'], {
    env: { ...inherited, TERM: 'xterm', SHELL: '/bin/sh', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const shown = () => text.replaceAll('\r\n', '\n');
  return {
    shown,
    until: (wanted) =>
      eventually(() => {
        if (!text.includes(wanted)) throw new Error(`'${wanted}' is not shown yet: ${text}`);
      }),
    type: (keys) => void child.stdin.write(keys),
    ended: once(child, 'close').then(([code]) => ({ code: code as number | null, shown: shown() })),
  };
}
