import type { Logger } from 'pino';
import { formatInstant } from '../contract/instant.ts';
import type { ListenerTls, TlsPair } from '../http/listener/tls.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import type { TlsFiles } from './tls-settings.ts';
import { watchFolders } from './watch-folders.ts';

/**
 * Milliseconds from a change in a folder until the files are read: a renewal changes several.
 */
const settleMs = 200;
/** Milliseconds between two readings without a change: some file systems report none. */
const rereadMs = 60_000;

/** A certificate that is read again when its files change. */
export interface WatchedCertificate extends ListenerTls {
  /** When the current certificate expires, in UTC epoch seconds. */
  readonly expiresAt: () => number;
  readonly close: () => void;
}

/**
 * Reads a certificate, and reads it again when its files change. A new pair that cannot be used is
 * logged, and the old one stays in use. Throws `CommandError` if the first pair cannot be used.
 */
export function watchCertificate(files: TlsFiles, logger: Logger): WatchedCertificate {
  let current = readCertificate(files);
  let problem = '';
  const listeners: ((pair: TlsPair) => void)[] = [];
  const use = (next: Certificate): void => {
    if (next.cert === current.cert && next.key === current.key) return;
    current = next;
    for (const listener of listeners) listener(next);
    const line = { certificate: files.certificate, expires_at: formatInstant(next.expiresAt) };
    logger.info(line, 'the certificate was read again');
  };
  const reread = (): void => {
    folders.update();
    try {
      use(readUnexpired(files));
      problem = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== problem) logger.error({ reason: message }, 'the certificate was not replaced');
      problem = message;
    }
  };
  let settling: NodeJS.Timeout | undefined;
  const soon = (): void => {
    clearTimeout(settling);
    settling = setTimeout(reread, settleMs).unref();
  };
  const folders = watchFolders([files.certificate, files.key], soon);
  const rereading = setInterval(reread, rereadMs).unref();
  return {
    current: () => current,
    onChange: (listener) => void listeners.push(listener),
    expiresAt: () => current.expiresAt,
    close: () => {
      folders.close();
      clearInterval(rereading);
      clearTimeout(settling);
    },
  };
}

/** Reads a pair that replaces one in use; an expired one would not help. */
function readUnexpired(files: TlsFiles): Certificate {
  const next = readCertificate(files);
  if (next.expiresAt * 1000 > Date.now()) return next;
  throw new Error(
    `Cannot use ${files.certificate}: it must not have expired: it did at ${formatInstant(next.expiresAt)}`,
  );
}
