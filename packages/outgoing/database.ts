import { isOnThisMachine } from '../contract/secure-url.ts';

/** What a URL of PostgreSQL says, without its user and password. */
interface DatabaseUrl {
  /** User, host, port and database, for messages. */
  readonly shown: string;
  readonly host: string;
  /** Whether the host is this machine: loopback, or a socket. */
  readonly isHere: boolean;
  readonly sslmode: string | undefined;
}

/**
 * Reads a URL of PostgreSQL; `undefined` if it is none, such as with `/`, `?` or `#` in a password
 * that is not percent-encoded, which would be taken for the end of the host.
 */
export function readDatabaseUrl(text: string): DatabaseUrl | undefined {
  const url = URL.parse(text);
  // a socket in the host parameter needs no host before the path
  const parsed = url ?? URL.parse(text.replace('@/', '@localhost/'));
  if (parsed === null || !/^postgres(ql)?:$/.test(parsed.protocol)) return undefined;
  const { hostname, port, pathname, searchParams, username } = parsed;
  if (/[@:]/.test(pathname) || parsed.hash !== '' || [...searchParams.keys()].some((name) => /[@:]/.test(name)))
    return undefined;
  const host = searchParams.get('host') ?? decoded(url === null ? '' : hostname);
  if (host === undefined) return undefined;
  return {
    shown: `postgres://${username === '' ? '' : `${username}@`}${hostname}${port === '' ? '' : `:${port}`}${pathname}`,
    host,
    isHere: host === '' || host.startsWith('/') || isOnThisMachine(`http://${host}`),
    sslmode: searchParams.get('sslmode') ?? undefined,
  };
}

/** `undefined` if the bytes are no text. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * The URL for the driver, which treats `prefer`, `require` and `verify-ca` as `verify-full`, with a
 * warning of nine lines.
 */
export const driverUrl = (text: string): string =>
  text.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full');

/** The rule for the URL of a database. */
export const databaseUrlRule =
  'it must be a URL such as postgres://reports@db.example.com/warehouse, with special characters of its password percent-encoded';

/** Why a connection would not be private; `undefined` if it would be. */
export const privacyFault = ({ isHere, sslmode }: DatabaseUrl): string | undefined =>
  isHere || sslmode === 'verify-full'
    ? undefined
    : 'a database of another machine must be reached with sslmode=verify-full in its URL, and sslrootcert=FILE for the certificate of a private authority';

const certificates: readonly (readonly [codes: readonly string[], sentence: string])[] = [
  [['DEPTH_ZERO_SELF_SIGNED_CERT'], 'its certificate is self-signed: name it with sslrootcert=FILE in the URL'],
  [
    ['ERR_TLS_CERT_ALTNAME_INVALID'],
    'its certificate is of another host: use a host name of the certificate in the URL',
  ],
  [['CERT_HAS_EXPIRED'], 'its certificate has expired: it must be renewed'],
  [
    ['INVALID_PURPOSE', 'INVALID_CA'],
    'its certificate is not for servers: it must be for server authentication, and of an authority',
  ],
  [['CERT_NOT_YET_VALID'], 'its certificate is not valid yet: the clocks of both machines must be right'],
  [
    [
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'CERT_SIGNATURE_FAILURE',
    ],
    'its certificate is of an unknown authority: name the certificate of the authority with sslrootcert=FILE in the URL',
  ],
];

/**
 * A sentence about a TLS connection to PostgreSQL that failed, for the end of a message;
 * `undefined` if the error is about something else.
 */
export function tlsFault(error: unknown): string | undefined {
  const { code = '', message = '' } = (error ?? {}) as { code?: string; message?: string };
  const known = certificates.find(([codes]) => codes.includes(code));
  if (known !== undefined) return known[1];
  if (message.includes('does not support SSL')) return 'it has no TLS, which sslmode of the URL demands';
  if (message.includes(clearText)) return clearText;
  return undefined;
}

const clearText = 'it asks for the password in clear text, which is sent over TLS only';

/** A client of the driver, as far as the rule below needs it. */
interface DriverClient {
  readonly connection: {
    prependListener(event: string, listener: () => void): unknown;
    readonly stream: { destroy(error: Error): unknown };
  };
  readonly ssl: unknown;
}

/** Ends a connection without TLS as soon as its server asks for the password in clear text. */
export function neverSendClearText(client: unknown): void {
  const { connection, ssl } = client as DriverClient;
  if (ssl) return;
  connection.prependListener('authenticationCleartextPassword', () => connection.stream.destroy(new Error(clearText)));
}
