import { homedir } from 'node:os';
import { join } from 'node:path';
import { requireMeant } from './secret-files.ts';

/** The variables of the commands that reach a service by HTTP. They are not its settings. */
export const commandVariables = [
  'SUBREPORT_URL',
  'SUBREPORT_CLIENT_ID',
  'SUBREPORT_CLIENT_SECRET',
  'SUBREPORT_PROFILE',
  'SUBREPORT_SERVER',
  'SUBREPORT_OPERATOR_TOKEN',
  'SUBREPORT_OPERATOR_TOKEN_FILE',
] as const;

/** Returns a variable; an empty one counts as unset. Throws `UsageError` for a `strayFault`. */
export function readVariable(name: (typeof commandVariables)[number]): string | undefined {
  const value = process.env[name] || undefined;
  return value && requireMeant(name, value);
}

/** All variables, for rclone, which has settings and credentials in them. */
export const allVariables = (): NodeJS.ProcessEnv => process.env;

/** The folder of the profiles (XDG Base Directory Specification). */
export const configFolder = (): string => join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'subreport');

/** Whether to write colors: `FORCE_COLOR` and `NO_COLOR` decide, otherwise the terminal. */
export function wantsColor(isTerminal: boolean): boolean {
  const { FORCE_COLOR: forced = '', NO_COLOR: forbidden = '', TERM } = process.env;
  if (forced !== '') return forced !== '0' && forced !== 'false';
  return forbidden === '' && isTerminal && TERM !== 'dumb';
}
