import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { tlsFiles } from './tls-settings.ts';
import type { WatchedCertificate } from './watch-certificate.ts';

/** The certificates of the listeners that use TLS. */
export interface Certificates {
  readonly public?: WatchedCertificate | undefined;
  readonly management?: WatchedCertificate | undefined;
}

/** Reads the certificates of the settings. Throws `CommandError` if one cannot be used. */
export async function openCertificates(config: Config, logger: Logger): Promise<Certificates> {
  const files = { public: tlsFiles(config, ''), management: tlsFiles(config, 'MANAGEMENT_') };
  if (files.public === undefined && files.management === undefined) return {};
  const { watchCertificate } = await import('./watch-certificate.ts');
  return {
    public: files.public && watchCertificate(files.public, logger),
    management: config.MANAGEMENT_PORT > 0 ? files.management && watchCertificate(files.management, logger) : undefined,
  };
}

/** Stops watching the files. */
export function closeCertificates(certificates: Certificates): void {
  certificates.public?.close();
  certificates.management?.close();
}
