import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { TlsPair } from '../http/listener/tls.ts';
import { CommandError } from './error.ts';
import type { TlsFiles } from './tls-settings.ts';

/** A certificate with its private key. */
export interface Certificate extends TlsPair {
  /** UTC epoch seconds. */
  readonly expiresAt: number;
}

/** Reads a certificate and its private key. Throws `CommandError` if they cannot be used. */
export function readCertificate({ certificate, key }: TlsFiles): Certificate {
  const pair = { cert: readPem(certificate), key: readPem(key) };
  try {
    createSecureContext(pair);
    return { ...pair, expiresAt: Math.floor(new X509Certificate(pair.cert).validToDate.getTime() / 1000) };
  } catch (error) {
    throw new CommandError(
      `Cannot use the certificate ${certificate}: it must be PEM, its own certificate first, and ${key} must be its private key, without a passphrase: ${(error as Error).message}`,
    );
  }
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`Cannot read ${path}: it must be a file that this user can read (${code})`);
  }
}
