import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { formatInstant } from '../../../contract/instant.ts';
import { CommandError, readTextFile } from '../../../terminal/error.ts';
import type { ListenerTls, TlsPair } from '../../http/listener/tls.ts';
import { type TlsFiles, type TlsValues, tlsFiles } from './tls-settings.ts';

/**
 * Milliseconds between two readings without a signal: Kubernetes replaces mounted files without
 * one, and Windows has no SIGHUP.
 */
const rereadMs = 3_600_000;

/** The certificates of the listeners that use TLS. */
export interface Certificates {
  readonly public: ServedCertificate | undefined;
  readonly management: ServedCertificate | undefined;
  /**
   * Reads the files again. A new pair that cannot be used is logged, and the old one stays in use.
   */
  readonly reread: () => void;
  readonly close: () => void;
}

interface ServedCertificate extends ListenerTls {
  /** When the current certificate expires, in UTC epoch seconds. */
  readonly expiresAt: () => number;
  readonly reread: () => void;
}

/** Reads the certificates of the settings. Throws `CommandError` if one cannot be used. */
export function openCertificates(
  config: TlsValues & { readonly MANAGEMENT_PORT: number },
  logger: Logger,
): Certificates {
  const open = (files: TlsFiles | undefined) => files && openCertificate(files, logger);
  const opened = {
    public: open(tlsFiles(config, '')),
    management: config.MANAGEMENT_PORT > 0 ? open(tlsFiles(config, 'MANAGEMENT_')) : undefined,
  };
  const reread = (): void => {
    opened.public?.reread();
    opened.management?.reread();
  };
  const rereading = setInterval(reread, rereadMs).unref();
  return { ...opened, reread, close: () => clearInterval(rereading) };
}

function openCertificate(files: TlsFiles, logger: Logger): ServedCertificate {
  let current = readCertificate(files);
  const listeners: ((pair: TlsPair) => void)[] = [];
  const use = (next: Certificate): void => {
    if (next.cert === current.cert && next.key === current.key) return;
    current = next;
    for (const listener of listeners) listener(next);
    const line = { certificate: files.certificate, expires_at: formatInstant(next.expiresAt) };
    logger.info(line, 'the certificate was read again');
  };
  return {
    current: () => current,
    onChange: (listener) => void listeners.push(listener),
    expiresAt: () => current.expiresAt,
    reread: () => {
      try {
        use(readUnexpired(files));
      } catch (error) {
        logger.error({ reason: (error as Error).message }, 'the certificate was not replaced');
      }
    },
  };
}

interface Certificate extends TlsPair {
  /** UTC epoch seconds. */
  readonly expiresAt: number;
}

/** Reads a pair that replaces one in use; an expired one would not help. */
function readUnexpired(files: TlsFiles): Certificate {
  const next = readCertificate(files);
  if (next.expiresAt * 1000 > Date.now()) return next;
  throw new Error(
    `Cannot use ${files.certificate}: it must not have expired: it did at ${formatInstant(next.expiresAt)}`,
  );
}

/** Reads a certificate and its private key. Throws `CommandError` if they cannot be used. */
function readCertificate({ certificate, key }: TlsFiles): Certificate {
  const pair = { cert: readTextFile(certificate), key: readTextFile(key) };
  try {
    createSecureContext(pair);
    return { ...pair, expiresAt: Math.floor(new X509Certificate(pair.cert).validToDate.getTime() / 1000) };
  } catch (error) {
    throw new CommandError(
      `Cannot use the certificate ${certificate}: it must be PEM, its own certificate first, and ${key} must be its private key, without a passphrase: ${(error as Error).message}`,
    );
  }
}
