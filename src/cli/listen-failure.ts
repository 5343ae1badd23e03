import type { Config } from './config.ts';
import { CommandError } from './error.ts';

/**
 * Converts an error of listening to a `CommandError` with a remedy; returns other errors unchanged.
 */
export function listenFailure(error: unknown, config: Config, prefix: '' | 'MANAGEMENT_' = ''): unknown {
  const { [`${prefix}HOST` as const]: host, [`${prefix}PORT` as const]: port } = config;
  const { code } = error as NodeJS.ErrnoException;
  const remedy = {
    EADDRINUSE: `the port must be free; stop what uses it, or set ${prefix}PORT to another one, such as ${prefix}PORT=${(port % 65_535) + 1}`,
    EACCES: `this user must be allowed to use the port; set ${prefix}PORT to one above 1023`,
    EADDRNOTAVAIL: `${prefix}HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0`,
    ENOTFOUND: `${prefix}HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0`,
  }[code ?? ''];
  return remedy === undefined ? error : new CommandError(`Cannot listen on ${host}:${port}: ${remedy} (${code})`);
}
