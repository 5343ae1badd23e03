import { readFileSync } from 'node:fs';

/** Whether `NAME_FILE` gives the setting. */
export function isFromFile(name: string, environment: NodeJS.ProcessEnv): boolean {
  const path = environment[`${name}_FILE`];
  return path !== undefined && path !== '';
}

/**
 * Reads each of the settings whose variable `NAME_FILE` has the path of a file. Returns the
 * contents without their last line break, and an error message for each file that cannot be used.
 */
export function readSecretFiles(names: readonly string[], environment: NodeJS.ProcessEnv) {
  const values: Record<string, string> = {};
  const faults: string[] = [];
  for (const name of names.filter((each) => isFromFile(each, environment))) {
    const path = environment[`${name}_FILE`] ?? '';
    const content = environment[name] ? new Error(`it must not be set together with ${name}`) : readSecret(path);
    if (typeof content === 'string') values[name] = content;
    else faults.push(`Cannot use ${name}_FILE: ${content.message}: current value is '${path}'`);
  }
  return { values, faults };
}

function readSecret(path: string): string | Error {
  try {
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return content === '' ? new Error('it must be a file that is not empty') : content;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return new Error(`it must be a file that this user can read, such as /run/secrets/name (${code})`);
  }
}

/** Removes the credentials of a URL from a rejected value, so that it can be shown. */
export const hidePassword = (value: string): string => value.replace(/\/\/.*@/s, '//***@');

/** Masks a secret: of a URL only its passwords, otherwise all of it. */
export function maskSecret(value: string): string {
  const parsed = URL.parse(value);
  if (parsed === null || !value.includes('://')) return '***';
  if (parsed.password !== '') parsed.password = '***';
  for (const name of parsed.searchParams.keys()) if (/password/i.test(name)) parsed.searchParams.set(name, '***');
  return parsed.href;
}
