import { isOnThisMachine } from '../../../contract/secure-url.ts';
import { readTextFile } from '../../../terminal/error.ts';
import { SyncError } from '../source/error.ts';

/** A webhook, as the command line names it. */
interface WebhookOptions {
  /** `webhook:URL`. */
  readonly to: string;
  /** File that keeps the place in the changes, and the events to deliver. */
  readonly state?: string;
  /** File with the signing secret, and in a second line the former one during its rotation. */
  readonly secretFile?: string;
  /** Remaining times at which the end of a subscription is announced, such as `7d,3d,1d`. */
  readonly expiring?: string;
  /** Whether to deliver again after the endpoint has responded with 410. */
  readonly enable?: boolean;
}

/** A webhook whose options are valid. */
export interface Webhook {
  readonly url: URL;
  readonly state: string;
  /** The keys that sign, current one first. */
  readonly keys: readonly Buffer[];
  /** Ascending. */
  readonly thresholds: readonly Threshold[];
  readonly isEnabledAgain: boolean;
}

/** A remaining time, as it was given and in seconds. */
interface Threshold {
  readonly name: string;
  readonly seconds: number;
}

/** Reads the options of a webhook. Throws `SyncError` with all that is wrong with them. */
export function readWebhook(options: WebhookOptions): Webhook {
  const faults: string[] = [];
  const read = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof SyncError)) throw error;
      faults.push(error.message);
      return undefined;
    }
  };
  const url = read(() => readUrl(options.to));
  const state = read(() => readState(options.state));
  const keys = read(() => readKeys(options.secretFile));
  const thresholds = read(() => readThresholds(options.expiring));
  if (!url || state === undefined || !keys || !thresholds)
    throw new SyncError('DESTINATION_INVALID', faults.join('\n'));
  return { url, state, keys, thresholds, isEnabledAgain: options.enable === true };
}

/** The endpoint in messages: its path and query may contain a secret. */
export const shownEndpoint = ({ origin }: URL): string => `webhook:${origin}/…`;

/** The URL and the state file of a webhook. Throws `SyncError` with the first mistake. */
export const webhookNamed = ({ to, state }: Pick<WebhookOptions, 'to' | 'state'>): Pick<Webhook, 'url' | 'state'> => ({
  url: readUrl(to),
  state: readState(state),
});

const readState = (state: string | undefined): string =>
  state ?? invalid('state', 'be given, such as --state webhook.db', 'none');

function readUrl(to: string): URL {
  const rule = 'be webhook: and an https URL without user and fragment, or an http URL of this machine';
  const example = 'such as webhook:https://example.com/hooks/subreport';
  const url = URL.parse(to.slice('webhook:'.length));
  if (url === null) return invalid('to', `${rule}, ${example}`, 'not a URL');
  const isPlain = url.username === '' && url.password === '' && url.hash === '';
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isOnThisMachine(url.href));
  return isPlain && isSafe ? url : invalid('to', `${rule}, ${example}`, shownEndpoint(url));
}

/** Bytes of a secret file that are read. */
const secretFileBytesMax = 4_096;

/** Reads the keys of a file: Standard Webhooks 1.0, symmetric, 24 to 64 bytes. */
function readKeys(file: string | undefined): readonly Buffer[] {
  const example = 'such as --secret-file webhook.secret';
  if (file === undefined) return invalid('secret-file', `be given, ${example}`, 'none');
  const lines = readTextFile(file)
    .slice(0, secretFileBytesMax)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const isSecret = (line: string): boolean => /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(line);
  const keys = lines.map((line) => Buffer.from(isSecret(line) ? line.slice('whsec_'.length) : '', 'base64'));
  const areValid = keys.every(({ length }) => length >= 24 && length <= 64);
  if (areValid && (keys.length === 1 || keys.length === 2)) return keys;
  const rule =
    "name a file with one line 'whsec_' and 24 to 64 bytes in base64, and during a rotation a second line with the former secret";
  return invalid(
    'secret-file',
    `${rule}, as printed by: echo "whsec_$(openssl rand -base64 32)"`,
    `${lines.length} lines`,
  );
}

const secondsOf = { h: 3_600, d: 86_400, w: 604_800 };
const thresholdSecondsMax = 366 * secondsOf.d;

function readThresholds(text: string | undefined): readonly Threshold[] {
  if (text === undefined) return [];
  const names = text.split(',').map((name) => name.trim());
  const thresholds = names.map((name) => {
    const [, count, unit = 'h'] = /^(\d{1,5})([hdw])$/.exec(name) ?? [];
    return { name, seconds: Number(count) * secondsOf[unit as keyof typeof secondsOf] };
  });
  const distinct = new Set(thresholds.map(({ seconds }) => seconds)).size;
  const areValid = thresholds.every(({ seconds }) => seconds > 0 && seconds <= thresholdSecondsMax);
  if (areValid && distinct === thresholds.length && distinct <= 10)
    return thresholds.toSorted((a, b) => a.seconds - b.seconds);
  return invalid(
    'expiring',
    'be 1 to 10 different durations in hours, days or weeks of at most 366 days, such as --expiring 7d,3d,1d',
    `'${text}'`,
  );
}

function invalid(option: string, rule: string, found: string): never {
  throw new SyncError('DESTINATION_INVALID', `Cannot use --${option}: it must ${rule}: current value is ${found}`);
}
