import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { UsageError } from './error.ts';

/**
 * Throws `UsageError` if clients on other machines would send secrets over plain http and the
 * operator has not allowed it.
 */
export function requireSecureTransport({ publicUrl, ALLOW_HTTP }: Config): void {
  if (!isOpenHttp(publicUrl) || ALLOW_HTTP === 'true') return;
  throw new UsageError(
    `Cannot serve under PUBLIC_URL: it must start with https:// for clients on other machines, as http sends tokens and secrets unencrypted (RFC 6749 section 10.9); set TLS_CERT_FILE, or use a proxy with TLS, and set PUBLIC_URL to the URL of clients, or set ALLOW_HTTP=true on a trusted network: current value is '${publicUrl}'`,
  );
}

/** Logs a warning for each listener that other machines can reach over plain http. */
export function warnOfOpenTransport(config: Config, logger: Logger): void {
  const { publicUrl, MANAGEMENT_HOST, MANAGEMENT_PORT, MANAGEMENT_TLS_CERT_FILE } = config;
  if (isOpenHttp(publicUrl)) {
    logger.warn(
      { public_url: publicUrl },
      'PUBLIC_URL is http: tokens and secrets are sent unencrypted (RFC 6749 section 10.9); set TLS_CERT_FILE, or use a proxy with TLS and set PUBLIC_URL to https',
    );
  }
  if (MANAGEMENT_PORT > 0 && MANAGEMENT_TLS_CERT_FILE === '' && !isLoopbackHost(MANAGEMENT_HOST)) {
    logger.warn(
      { management_host: MANAGEMENT_HOST },
      "MANAGEMENT_HOST is reachable from other machines: the operator's API is plain http, so tokens and records are sent unencrypted; restrict it to a trusted network, set MANAGEMENT_TLS_CERT_FILE, or use a proxy with TLS",
    );
  }
}

/** Whether a URL refers to this machine. */
export const isLoopback = (url: string): boolean => isLoopbackHost(new URL(url).hostname);

const isLoopbackHost = (host: string): boolean => ['127.0.0.1', 'localhost', '::1', '[::1]'].includes(host);

const isOpenHttp = (url: string): boolean => url.startsWith('http://') && !isLoopback(url);
