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

/** The content of the file, or the rule that it breaks. */
function readSecret(path: string): string | Error {
  try {
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return content === '' ? new Error('it must be a file that is not empty') : content;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return new Error(`it must be a file that this user can read, such as /run/secrets/name (${code})`);
  }
}
