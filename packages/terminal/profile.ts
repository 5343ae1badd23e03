import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseJson, RepeatedError } from '../contract/json-object.ts';
import { createFolders } from './create-folders.ts';
import { configFolder } from './environment.ts';
import { CommandError, codeOf, UsageError, writeFailure } from './error.ts';

/** A service and a client of it, as in the file `demo-client.json`. */
export interface Profile {
  /** Base URL of the API, including `/connect-api`. */
  readonly base_url: string;
  /** The token endpoint; by default, that of the service's metadata. */
  readonly token_url?: string;
  readonly client_id: string;
  readonly client_secret: string;
  /** Permits http to another machine. */
  readonly allow_http?: boolean;
}

export const defaultProfile = 'default';

const namePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** The file of a profile, or of its cached tokens. Throws `UsageError` if the name is invalid. */
export function profileFile(kind: 'profiles' | 'tokens', name: string): string {
  if (namePattern.test(name)) return join(configFolder(), kind, `${name}.json`);
  throw new UsageError(
    `Cannot use the profile: its name must be 1 to 64 letters, digits, _ and -, such as staging: current value is '${name}'`,
  );
}

/** Returns a profile. Throws `UsageError` if there is none of this name. */
export function readProfile(name: string): Profile {
  const file = profileFile('profiles', name);
  const text = readFileIfAny(file);
  if (text === undefined) throw missingProfile(name);
  const profile = parseProfile(text, file);
  if (profile !== undefined) return profile;
  throw new CommandError(
    `Cannot use profile '${name}': its file must be one that 'subreport login' wrote; log in again to replace it: current value is ${file}`,
  );
}

export const writeProfile = (name: string, profile: Profile): void =>
  writePrivateFile(profileFile('profiles', name), `${JSON.stringify(profile, null, 2)}\n`);

export function removeProfile(name: string): void {
  for (const kind of ['profiles', 'tokens'] as const) removeFile(profileFile(kind, name));
}

function missingProfile(name: string): UsageError {
  const others = profileNames();
  const login = name === defaultProfile ? 'subreport login' : `subreport login --profile ${name}`;
  const choice = others.length === 0 ? '' : `, or select an existing profile with --profile: ${others.join(', ')}`;
  return new UsageError(`Cannot find profile '${name}': run '${login}' first${choice}`);
}

/** The names of the profiles, from A. */
export function profileNames(): string[] {
  try {
    const files = readdirSync(join(configFolder(), 'profiles'));
    return files
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -'.json'.length))
      .sort();
  } catch {
    return []; // no folder yet
  }
}

/** Parses the JSON of a profile; `undefined` if anything is missing. */
function parseProfile(text: string, file: string): Profile | undefined {
  const { base_url, token_url, client_id, client_secret, allow_http } = parseObject(text, file);
  if (base_url === undefined || client_id === undefined || client_secret === undefined) return undefined;
  return {
    base_url,
    ...(token_url !== undefined && { token_url }),
    client_id,
    client_secret,
    ...(allow_http === 'true' && { allow_http: true }),
  };
}

/**
 * The members of the JSON object in a file as strings; none if it is no JSON object. Throws
 * `CommandError` if a member is repeated.
 */
export function parseObject(text: string, file: string): Partial<Record<string, string>> {
  try {
    const members = Object.entries((parseJson(text, 4) ?? {}) as object);
    return Object.fromEntries(members.map(([name, value]) => [name, String(value)]));
  } catch (error) {
    if (error instanceof RepeatedError)
      throw new CommandError(`Cannot use '${file}': each member must be given once: '${error.path}' is repeated`);
    return {};
  }
}

/**
 * Replaces a file that only this user can read, in a folder that only this user can open. Other
 * processes see the old content or the new one, never a part.
 */
export function writePrivateFile(path: string, text: string): void {
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    createFolders(dirname(path));
    chmodSync(dirname(path), 0o700); // the folder may be an older one
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeFailure(path, error);
  }
}

/** Removes a file, if there is one. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw new CommandError(`Cannot remove '${path}': it must be a file that this user can remove (${codeOf(error)})`);
  }
}

/** Returns the content of a file, or `undefined` if there is none. */
export function readFileIfAny(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
