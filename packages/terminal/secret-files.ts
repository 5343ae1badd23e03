import { readFileSync } from 'node:fs';
import { UsageError } from './error.ts';
import { printable } from './printable.ts';

const stray = /[\p{Cc}\p{Cf}\u2028\u2029]|^\s|\s$|^\p{Quotation_Mark}(?=.*\p{Quotation_Mark}$)/u;

/**
 * The rule that a value breaks if its author did not mean all of it: a carriage return of Windows,
 * quotation marks that docker's `--env-file` keeps, a byte-order mark. Does not show the value.
 */
export function strayFault(value: string): string | undefined {
  const { 0: found = '', index } = stray.exec(value) ?? {};
  const code = found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  const rule = 'must have no control or hidden character, no blank at an end and no quotation marks around it';
  return code && `${rule}: found U+${code} after ${index} characters`;
}

/** Returns the value. Throws `UsageError` for a `strayFault`. */
export function requireMeant(name: string, value: string): string {
  const fault = strayFault(value);
  if (fault) throw new UsageError(`Cannot use ${name}: it ${fault}`);
  return value;
}

/**
 * Reads each of the settings whose variable `NAME_FILE` has the path of a file. Returns the
 * contents without their last line break, and an error message for each file that cannot be used.
 */
export function readSecretFiles(names: readonly string[], environment: NodeJS.ProcessEnv) {
  const values: Record<string, string> = {};
  const faults: string[] = [];
  for (const name of names.filter((each) => environment[`${each}_FILE`])) {
    const path = environment[`${name}_FILE`] ?? '';
    const content = environment[name] ? new Error(`it must not be set together with ${name}`) : readSecret(path);
    if (typeof content === 'string') values[name] = content;
    else faults.push(`Cannot use ${name}_FILE: ${content.message}: current value is '${printable(path)}'`);
  }
  return { values, faults };
}

function readSecret(path: string): string | Error {
  const fault = strayFault(path);
  if (fault) return new Error(`it ${fault}`);
  try {
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    const inside = content === '' ? 'must not be empty' : strayFault(content);
    return inside ? new Error(`its content ${inside}`) : content;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return new Error(`it must be a file that this user can read, such as /run/secrets/name (${code})`);
  }
}

/** Removes the credentials of a URL from a rejected value, so that it can be shown. */
export const hidePassword = (value: string): string => value.replace(/(:\/*).*@/s, '$1***@');
