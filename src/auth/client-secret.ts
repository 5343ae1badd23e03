import { argon2, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { TokenError } from './error.ts';

const slowHash = promisify(argon2);

/** Parameters of argon2id for secrets that people chose (OWASP's first recommendation); 1/61 of the speed of SHA-256 when measured. */
const slowParameters = { parallelism: 1, tagLength: 32, memory: 19_456, passes: 2 } as const;
/** Slow checks that may wait at once; more are refused, or guessing at one client would starve all others. */
const slowChecksMax = 32;
const verifiedMax = 1_000;

/** A new client secret: 256 random bits in base64url (RFC 6749 §10.10). */
export function generateSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The hash to keep of a secret that `generateSecret` made: SHA-256, as 256 random bits cannot be guessed however fast the hash is. */
export function hashGeneratedSecret(secret: string): string {
  return `sha256$${digest(secret).toString('base64url')}`;
}

/** The hash to keep of a secret that came from elsewhere and may have been chosen by a person: argon2id with a salt. */
export async function hashChosenSecret(secret: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await slowHash('argon2id', { message: secret, nonce: salt, ...slowParameters });
  return `argon2id$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

/** Whether a secret is the one of a hash, compared in constant time. Fails with `TokenError` when too many slow checks are waiting. */
export async function verifySecret(hash: string, secret: string): Promise<boolean> {
  const [kind, first = '', second = ''] = hash.split('$');
  if (kind === 'sha256') return timingSafeEqual(Buffer.from(first, 'base64url'), digest(secret));
  if (kind === 'argon2id') return verifyChosenSecret(hash, secret, first, second);
  throw new TypeError(`Cannot verify a client secret: its hash must be of a known kind: current value is '${kind}'`);
}

/** Spends the time of a comparison, for clients that do not exist. */
export function verifyNothing(secret: string): void {
  timingSafeEqual(digest(secret), digest('no such client'));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Secrets proved right by the slow hash, as HMACs under a key that lives no longer than the process: the slow hash runs once for each. */
const verified = new Map<string, Buffer>();
const processKey = randomBytes(32);
let slowChecks: Promise<unknown> = Promise.resolve();
let slowChecksWaiting = 0;

async function verifyChosenSecret(hash: string, secret: string, salt: string, expected: string): Promise<boolean> {
  const proof = createHmac('sha256', processKey).update(secret).digest();
  const known = verified.get(hash);
  if (known !== undefined && timingSafeEqual(known, proof)) return true;
  if (slowChecksWaiting >= slowChecksMax) {
    throw new TokenError('temporarily_unavailable', 'Cannot check the client secret now: try again in a second');
  }
  slowChecksWaiting += 1;
  const check = slowChecks.then(() =>
    slowHash('argon2id', { message: secret, nonce: Buffer.from(salt, 'base64url'), ...slowParameters }),
  );
  slowChecks = check.catch(() => undefined).finally(() => (slowChecksWaiting -= 1));
  const right = timingSafeEqual(await check, Buffer.from(expected, 'base64url'));
  if (right) {
    if (verified.size >= verifiedMax) verified.clear();
    verified.set(hash, proof);
  }
  return right;
}
