import type { Command } from 'commander';
import { createClientWith } from '../client/client.ts';
import { systemClock } from '../client/clock.ts';
import type { RequestOptions, StoredTokens, SubreportClient, ValueStore } from '../client/index.ts';
import { apiPath, serviceUrlOf } from '../contract/report.ts';
import { outgoingFetch } from '../outgoing/fetch.ts';
import { rememberSecret } from '../outgoing/known-secrets.ts';
import { CheckedApi } from './checked-api.ts';
import { readVariable } from './environment.ts';
import { codeOf, isDiskFull, UsageError } from './error.ts';
import { packageVersion } from './package-version.ts';
import {
  defaultProfile,
  type Profile,
  profileFile,
  readFileIfAny,
  readProfile,
  removeFile,
  writePrivateFile,
} from './profile.ts';
import { requireMeant } from './secret-files.ts';

/** The option of `addProfileOption`. */
export interface ProfileOption {
  readonly profile?: string;
}

export const addProfileOption = (command: Command): Command =>
  command.option('--profile <name>', 'the profile to use (default: SUBREPORT_PROFILE, or "default")');

type Hooks = Pick<RequestOptions, 'onResponse'>;

interface Connection {
  /** Name of the profile; `undefined` if environment variables replace it. */
  readonly name: string | undefined;
  readonly profile: Profile;
  readonly client: SubreportClient;
}

/**
 * Opens the profile of a command: that of `--profile`, otherwise the environment variables,
 * otherwise the default one. Throws `UsageError` or `CommandError` if it is incomplete.
 */
export function connect({ profile: given }: ProfileOption, hooks: Hooks = {}): Connection {
  const fromVariables = given === undefined ? profileOfVariables() : undefined;
  if (fromVariables !== undefined)
    return { name: undefined, profile: fromVariables, client: openClient(fromVariables, undefined, hooks) };
  const name = profileName(given);
  const profile = readProfile(name);
  return { name, profile, client: openClient(profile, cachedTokens(name), hooks) };
}

export const profileName = (given: string | undefined): string =>
  given ?? readVariable('SUBREPORT_PROFILE') ?? defaultProfile;

/** Whether the user named a service: by `--profile`, by variables, or by a default profile. */
export const isServiceGiven = ({ profile }: ProfileOption): boolean =>
  profile !== undefined ||
  profileOfVariables() !== undefined ||
  readVariable('SUBREPORT_PROFILE') !== undefined ||
  readFileIfAny(profileFile('profiles', defaultProfile)) !== undefined;

/** All three variables are required, so that no secret is sent to the URL of another profile. */
function profileOfVariables(): Profile | undefined {
  const names = ['SUBREPORT_URL', 'SUBREPORT_CLIENT_ID', 'SUBREPORT_CLIENT_SECRET'] as const;
  const [url, id, secret] = names.map(readVariable);
  if (url !== undefined && id !== undefined && secret !== undefined)
    return { base_url: baseUrlOf(url), client_id: id, client_secret: secret };
  const missing = names.filter((name) => readVariable(name) === undefined);
  if (missing.length === names.length) return undefined;
  throw new UsageError(
    `Cannot use the environment variables: SUBREPORT_URL, SUBREPORT_CLIENT_ID and SUBREPORT_CLIENT_SECRET must all be set, unless --profile is given: missing: ${missing.join(', ')}`,
  );
}

/** Opens a client. Throws `UsageError` if its URLs are invalid or not safe for secrets. */
export function openClient(
  profile: Profile,
  tokenStore?: ValueStore<StoredTokens>,
  hooks: Hooks = {},
): SubreportClient {
  const { base_url: baseUrl, token_url: tokenUrl, allow_http: allowHttp } = profile;
  // the token endpoint would call them wrong
  const clientId = requireMeant('the client id', profile.client_id);
  const clientSecret = requireMeant('the client secret', profile.client_secret);
  rememberSecret(clientSecret, clientId);
  try {
    const options = {
      ...hooks,
      fetch: outgoingFetch,
      url: baseUrl,
      ...(tokenUrl !== undefined && { tokenUrl }),
      clientId,
      clientSecret,
      allowHttp,
      tokenStore,
      userAgent: `subreport/${packageVersion}`,
    };
    return createClientWith(options, systemClock, CheckedApi);
  } catch (error) {
    if (error instanceof TypeError)
      throw new UsageError(error.message.replace('allowHttp permits', "'subreport login --allow-http' permits"));
    throw error;
  }
}

/** The base URL of the API, from the URL of the service or of one of its pages. */
export function baseUrlOf(text: string): string {
  const url = serviceUrlOf(text);
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError(
      `Cannot use the URL of the service: it must be a URL such as https://reports.example.com: current value is '${text}'`,
    );
  return url + apiPath;
}

export function cachedTokens(name: string): ValueStore<StoredTokens> {
  const file = profileFile('tokens', name);
  return {
    load() {
      try {
        return JSON.parse(readFileIfAny(file) ?? 'null') ?? undefined;
      } catch {
        return undefined; // truncated or edited: replaced with the next token
      }
    },
    save(tokens) {
      if (tokens === undefined) return removeFile(file);
      try {
        writePrivateFile(file, JSON.stringify(tokens));
      } catch (error) {
        // other commands then request tokens of their own
        const { cause } = error as Error;
        if (!isDiskFull(cause) && codeOf(cause) !== 'EROFS') throw error;
      }
    },
  };
}
