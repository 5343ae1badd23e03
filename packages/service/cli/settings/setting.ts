import { isIP } from 'node:net';
import { isSecureUrl } from '../../../contract/secure-url.ts';

/** A setting: how its environment variable is parsed, and what it means. */
export interface Setting<T> {
  /** Parses a value without a `strayFault`; `undefined` if it breaks the rule. */
  readonly read: (text: string) => T | undefined;
  readonly fallback: T;
  /** The rule in words, with a valid example. */
  readonly rule: string;
  readonly description: string;
  /** Whether the value must be masked in all output. */
  readonly secret?: true;
}

/** An integer within bounds. */
export function wholeNumber(minimum: number, maximum: number, fallback: number, description: string): Setting<number> {
  return {
    read: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    },
    fallback,
    rule: `an integer from ${minimum} to ${maximum}, such as ${fallback}`,
    description,
  };
}

/** An enumeration; `undefined` if it is unset and has no fallback. */
export function oneOf<T extends string, F extends T | undefined>(
  words: readonly T[],
  fallback: F,
  description: string,
): Setting<T | F> {
  return {
    read: (text) => words.find((word) => word === text),
    fallback,
    rule: `one of ${words.join(', ')}`,
    description,
  };
}

/**
 * A URL with one of the given schemes, without its trailing slashes; as browsers write it, so that
 * it fits in a header.
 */
export function url(schemes: readonly string[], example: string, description: string): Setting<string | undefined> {
  return {
    read: (text) => {
      const parsed = URL.parse(text);
      if (parsed === null || !schemes.includes(parsed.protocol.slice(0, -1)) || text.length > 150) return undefined;
      const { search, hash, username, password } = parsed;
      return search + hash + username + password === '' ? parsed.href.replace(/\/+$/, '') : undefined;
    },
    fallback: undefined,
    rule: `a URL of at most 150 characters that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}, such as ${example}`,
    description,
  };
}

/** A non-empty string. */
export function text(fallback: string, rule: string, description: string): Setting<string> {
  return { read: (value) => value, fallback, rule, description };
}

/** A host of a URL: an IPv6 address has brackets there. */
export const hostInUrl = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);

/** An address to listen on, this machine by default. */
export const host = (example: string, description: string): Setting<string> => ({
  read: (value) =>
    (isIP(value) > 0 || isHostName(value)) && URL.canParse(`http://${hostInUrl(value)}`) ? value : undefined,
  fallback: '127.0.0.1',
  rule: `a host name or an IP address, such as ${example}`,
  description,
});

/** A value that is never shown. */
export const secret = (
  isRight: (value: string) => boolean,
  rule: string,
  description: string,
): Setting<string | undefined> => ({
  read: (value) => (isRight(value) ? value : undefined),
  fallback: undefined,
  rule,
  description,
  secret: true,
});

/**
 * Whether a value is a key of at least 256 random bits in base64, base64url or hexadecimal. A value
 * with few distinct bytes is rejected: 32 random bytes have 30 distinct ones on average, and fewer
 * than 16 in one of 10^15 cases.
 */
export function isRandomKey(value: string): boolean {
  const encoding = /^(?:[0-9a-f]{2})+$/i.test(value) ? 'hex' : /^[\w+/-]+={0,2}$/.test(value) ? 'base64' : undefined;
  if (encoding === undefined) return false;
  const bytes = Buffer.from(value, encoding);
  return bytes.length >= 32 && new Set(bytes).size >= 16;
}

/** A comma-separated list of IP addresses and networks; empty if unset. */
export const networks = (description: string): Setting<readonly string[]> =>
  listSetting(isNetwork, 'IP addresses or networks separated by commas, such as 10.0.0.0/8,127.0.0.1', description);

/** A comma-separated list of host names; empty if unset. */
export const hostNames = (description: string): Setting<readonly string[]> =>
  listSetting(isHostName, 'host names separated by commas, such as subreport.internal,subreport', description);

const isHostName = (text: string): boolean => /^\w(?:[\w.-]*\w)?$/.test(text);

function listSetting(isItem: (item: string) => boolean, rule: string, description: string): Setting<readonly string[]> {
  const read = (value: string): readonly string[] | undefined => {
    const list = value.split(',').map((each) => each.trim());
    return list.every(isItem) ? list : undefined;
  };
  return { read, fallback: [], rule, description };
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  if (bits === undefined || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}

/**
 * Printable ASCII without blanks, quotes and backslashes, as OAuth defines its tokens (RFC 6749
 * §3.3).
 */
export function word<F extends string | undefined>(
  fallback: F,
  example: string,
  description: string,
): Setting<string | F> {
  return {
    read: (value) => (/^[\x21\x23-\x5b\x5d-\x7e]{1,512}$/.test(value) ? value : undefined),
    fallback,
    rule: `printable ASCII without spaces, quotes and backslashes, such as ${example}`,
    description,
  };
}

/** The URL of an issuer (RFC 8414 §2), unchanged. */
export function issuerUrl(example: string, description: string): Setting<string | undefined> {
  return {
    read: (value) =>
      /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(value) && !/[?#]/.test(value) && isSecureUrl(value) ? value : undefined,
    fallback: undefined,
    rule: `a URL that starts with https:// (http:// only for this machine), without ? and #, such as ${example}`,
    description,
  };
}
