import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { SyncError } from './error.ts';

/** A prefix of a bucket, and who uses it. */
export interface Bucket {
  /** The place in messages. */
  readonly shown: string;
  /** URL of the bucket, without a slash at its end. */
  readonly base: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string;
  readonly region: string;
  readonly credentials: Credentials;
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * Reads `s3://BUCKET/PREFIX[?endpoint=URL][&region=REGION]`. The rest is where the tools of Amazon
 * look for it: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION,
 * AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the file of credentials and AWS_PROFILE.
 */
export function bucketOf(to: string, secretFile: string | undefined, environment: NodeJS.ProcessEnv): Bucket {
  const [place = '', ...parameters] = to.split('?');
  const [, bucket = '', path = ''] = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{2,62})(?:\/(.*))?$/s.exec(place) ?? [];
  const query = new URLSearchParams(parameters.join('?'));
  const unknown = [...query.keys()].filter((name) => name !== 'endpoint' && name !== 'region');
  if (bucket === '' || unknown.length > 0)
    throw invalid(
      'Cannot use --to: it must be s3://BUCKET/PREFIX, optionally with ?endpoint=URL&region=REGION and without credentials, such as s3://exports/subreport?region=eu-central-1',
    );
  const { AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = environment;
  const region = query.get('region') ?? AWS_REGION ?? AWS_DEFAULT_REGION ?? 'us-east-1';
  const endpoint = query.get('endpoint') ?? AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL;
  const prefix = path.replace(/^\/+|\/+$/g, '');
  return {
    shown: prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`,
    base: endpoint === undefined ? baseAtAmazon(bucket, region) : `${requireEndpoint(endpoint)}/${bucket}`,
    prefix,
    region,
    credentials: readCredentials(secretFile, environment),
  };
}

/** A name with dots has no certificate as a host. */
const baseAtAmazon = (bucket: string, region: string): string =>
  /^[a-z0-9-]+$/.test(bucket)
    ? `https://${bucket}.s3.${region}.amazonaws.com`
    : `https://s3.${region}.amazonaws.com/${bucket}`;

function requireEndpoint(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal))
    return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  throw invalid(
    `Cannot use the endpoint of S3: it must be an https URL, or http on this machine, such as https://minio.example.com: current value is '${url?.origin ?? given}'`,
  );
}

function readCredentials(secretFile: string | undefined, environment: NodeJS.ProcessEnv): Credentials {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE, AWS_SHARED_CREDENTIALS_FILE } =
    environment;
  if (secretFile === undefined && AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY)
    return credentialsOf(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN);
  const file = secretFile ?? AWS_SHARED_CREDENTIALS_FILE ?? join(homedir(), '.aws', 'credentials');
  const profile = AWS_PROFILE ?? 'default';
  const entries = readProfile(file, profile);
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: token } = entries;
  if (id && secret) return credentialsOf(id, secret, token);
  throw invalid(
    `Cannot use S3: its credentials must be in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in a file such as --secret-file ~/.aws/credentials with aws_access_key_id and aws_secret_access_key below [${profile}]: current value is none in '${file}'`,
  );
}

const credentialsOf = (accessKeyId: string, secretAccessKey: string, sessionToken?: string): Credentials => ({
  accessKeyId,
  secretAccessKey,
  ...(sessionToken && { sessionToken }),
});

/** The entries of a profile in a file of credentials; none if there is no such file or profile. */
function readProfile(file: string, profile: string): Partial<Record<string, string>> {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw invalid(
        `Cannot use the file of credentials: it must be a file that this user can read: current value is '${file}'`,
      );
  }
  const entries: Record<string, string> = {};
  let section = 'default';
  for (const line of text.split(/\r?\n/)) {
    section = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1] ?? section;
    const [, name, value] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (section === profile && name !== undefined) entries[name] = value ?? '';
  }
  return entries;
}

const invalid = (message: string): SyncError => new SyncError('DESTINATION_INVALID', message);
