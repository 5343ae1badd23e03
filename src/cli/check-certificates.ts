import { formatInstant } from '../contract/instant.ts';
import type { StoreCheck } from '../storage/store.ts';
import { readCertificate } from './certificate.ts';
import type { Config } from './config.ts';
import { nowSeconds } from './store-session.ts';
import { type TlsFiles, tlsFiles } from './tls-settings.ts';

/** Days before the expiry at which a renewal is late: most authorities renew 30 days before. */
const daysMin = 14;
const daySeconds = 86_400;

/** Checks the certificate of each listener that uses TLS. */
export function checkCertificates(config: Config): readonly StoreCheck[] {
  const files = [tlsFiles(config, ''), tlsFiles(config, 'MANAGEMENT_')].filter((each) => each !== undefined);
  return files.map((each) => ({ check: 'certificate', ...checkCertificate(each) }));
}

function checkCertificate(files: TlsFiles): Pick<StoreCheck, 'ok' | 'message'> {
  try {
    const { expiresAt } = readCertificate(files);
    const days = Math.floor((expiresAt - nowSeconds()) / daySeconds);
    const expiry = `${formatInstant(expiresAt)}, in ${days} days`;
    if (days >= daysMin) return { ok: true, message: `${files.certificate} expires at ${expiry}` };
    return {
      ok: false,
      message: `Cannot rely on the certificate ${files.certificate}: it must be valid for ${daysMin} more days: it expires at ${expiry}; renew it`,
    };
  } catch (error) {
    return { ok: false, message: (error as Error).message };
  }
}
