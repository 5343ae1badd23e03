import type { SecureContextOptions, Server, TLSSocket } from 'node:tls';
import type { FastifyBaseLogger } from 'fastify';

/** A certificate with its private key, in PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** The certificate of a listener, which may be renewed while it listens. */
export interface ListenerTls {
  readonly current: () => TlsPair;
  /** Calls `listener` with each new pair. */
  readonly onChange: (listener: (pair: TlsPair) => void) => void;
}

/**
 * TLS 1.3, and TLS 1.2 with forward secrecy and authenticated encryption (RFC 9325 §4.2). The
 * client chooses the cipher: one without AES instructions prefers ChaCha20.
 */
const policy: SecureContextOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
};

/** Time limit of a handshake in milliseconds; the default is two minutes. */
const handshakeMs = 10_000;

/** The options of a server that uses the current certificate. */
export const tlsOptions = (tls: ListenerTls) => ({ ...policy, ...tls.current(), handshakeTimeout: handshakeMs });

/**
 * Lets new connections of a server use each new certificate; open connections continue with theirs.
 * Failed handshakes are logged without a response.
 */
export function installTls(server: Server, tls: ListenerTls, logger: Pick<FastifyBaseLogger, 'info'>): void {
  tls.onChange((pair) => server.setSecureContext({ ...policy, ...pair }));
  // Node.js would report them as unreadable requests
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    const { remoteAddress: address = null } = socket;
    socket.destroy();
    if (error.code !== 'ECONNRESET') logger.info({ reason: error.code, address }, 'TLS handshake failed');
  });
}
