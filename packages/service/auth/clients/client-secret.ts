import { argon2, createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { TokenError } from '../error.ts';

/** Generates a client secret: 256 random bits in base64url (RFC 6749 §10.10). */
export function generateSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Hashes a generated secret with SHA-256: 256 random bits cannot be guessed, however fast the hash
 * is.
 */
export function hashGeneratedSecret(secret: string): string {
  return `sha256$${digest(secret).toString('base64url')}`;
}

/**
 * Whether a secret matches a hash of `hashGeneratedSecret`, compared in constant time; `false` for
 * hashes of another kind.
 */
export function verifyGeneratedSecret(stored: string, secret: string): boolean {
  const [kind, expected = ''] = stored.split('$');
  return kind === 'sha256' && timingSafeEqual(Buffer.from(expected, 'base64url'), digest(secret));
}

/** Takes as long as a comparison, for clients that do not exist. */
export function verifyNothing(secret: string): void {
  timingSafeEqual(digest(secret), digest('no such client'));
}

const digest = (secret: string): Buffer => hash('sha256', secret, 'buffer');

const slowHash = promisify(argon2);

/**
 * Parameters of argon2id: memory in KiB, passes, lanes. OWASP's first recommendation; measured at
 * 1/61 of the speed of SHA-256.
 */
const parametersNow = { memory: 19_456, passes: 2, parallelism: 1 };
const tagLength = 32;

/**
 * Maximum number of waiting checks: of all clients, and of one, so that guesses at one client do
 * not starve the others.
 */
const waitingMax = { all: 32, perClient: 4 };

/** Hashes a secret that may have been chosen by a person: argon2id with a salt, as a PHC string. */
export async function hashChosenSecret(secret: string): Promise<string> {
  const salt = randomBytes(16);
  const { memory, passes, parallelism } = parametersNow;
  const tag = await slowHash('argon2id', { message: secret, nonce: salt, tagLength, ...parametersNow });
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`;
}

/** Whether `hashChosenSecret` created a stored hash, perhaps with other parameters. */
export const isChosenHash = (hash: string): boolean => readHash(hash) !== undefined;

/** Whether a hash has outdated parameters. */
export function isOutdatedHash(hash: string): boolean {
  const stored = readHash(hash);
  const names = ['memory', 'passes', 'parallelism'] as const;
  return stored === undefined || names.some((name) => stored[name] !== parametersNow[name]);
}

/**
 * Whether a secret matches a hash, compared in constant time. Checks run one at a time. Throws
 * `TokenError` if too many are waiting, of this client or of all.
 */
export async function verifyChosenSecret(clientId: string, hash: string, secret: string): Promise<boolean> {
  const stored = readHash(hash);
  if (stored === undefined) throw new TypeError('Cannot verify a client secret: its hash must be one of argon2id');
  const proof = createHmac('sha256', processKey).update(secret).digest();
  const known = proofs.get(hash);
  if (known !== undefined && timingSafeEqual(known, proof)) return true;
  const { salt, tag, ...parameters } = stored;
  const found = await inTurn(clientId, () =>
    slowHash('argon2id', { message: secret, nonce: salt, tagLength: tag.length, ...parameters }),
  );
  const right = timingSafeEqual(found, tag);
  if (right) proofs.set(hash, proof);
  return right;
}

/**
 * Verified secrets, as HMACs under a key of this process, so that the slow hash runs once for each.
 */
const proofs = new LRUCache<string, Buffer>({ max: 1_000 });
const processKey = randomBytes(32);

let last: Promise<unknown> = Promise.resolve();
let waiting = 0;
const waitingByClient = new Map<string, number>();

/** Runs a slow check after those before it. */
async function inTurn<T>(clientId: string, check: () => Promise<T>): Promise<T> {
  const own = waitingByClient.get(clientId) ?? 0;
  if (waiting >= waitingMax.all || own >= waitingMax.perClient) throw overloaded();
  waiting += 1;
  waitingByClient.set(clientId, own + 1);
  const turn = last.then(check);
  last = turn.catch(() => undefined);
  try {
    return await turn;
  } finally {
    waiting -= 1;
    const rest = (waitingByClient.get(clientId) ?? 1) - 1;
    if (rest > 0) waitingByClient.set(clientId, rest);
    else waitingByClient.delete(clientId);
  }
}

const overloaded = () =>
  new TokenError('temporarily_unavailable', 'Cannot verify the client secret now: try again in a second', 1);

/** Parses a PHC string of argon2id. */
function readHash(hash: string) {
  const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(hash);
  if (phc === null) return undefined;
  const [, memory, passes, parallelism, salt = '', tag = ''] = phc;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

/** Base64 without padding, as in PHC strings. */
const base64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
