import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { UsageError } from './error.ts';

/**
 * Fails with `UsageError` when clients of other machines would send their secrets by plain http and
 * the operator has not allowed it.
 */
export function requireSecureTransport({ publicUrl, ALLOW_HTTP }: Config): void {
  if (!isOpenHttp(publicUrl) || ALLOW_HTTP === 'true') return;
  throw new UsageError(
    `Cannot serve under PUBLIC_URL: it must begin with https:// for clients of other machines, as tokens and secrets travel in the clear otherwise (RFC 6749 section 10.9); put TLS in front and set PUBLIC_URL to its URL, or set ALLOW_HTTP=true where the network is your own: current value is '${publicUrl}'`,
  );
}

/** Logs a warning for each listener that other machines reach by plain http. */
export function warnOfOpenTransport({ publicUrl, MANAGEMENT_HOST, MANAGEMENT_PORT }: Config, logger: Logger): void {
  if (isOpenHttp(publicUrl)) {
    logger.warn(
      { public_url: publicUrl },
      'PUBLIC_URL is http: tokens and secrets travel in the clear (RFC 6749 section 10.9); put TLS in front and set PUBLIC_URL to https',
    );
  }
  if (MANAGEMENT_PORT > 0 && !isLoopbackHost(MANAGEMENT_HOST)) {
    logger.warn(
      { management_host: MANAGEMENT_HOST },
      "MANAGEMENT_HOST is not of this machine alone: the operator's listener is plain http, so its tokens and records travel in the clear; let only your own network reach it, or put TLS in front",
    );
  }
}

/** Whether a URL leads to this machine itself. */
export const isLoopback = (url: string): boolean => isLoopbackHost(new URL(url).hostname);

const isLoopbackHost = (host: string): boolean => ['127.0.0.1', 'localhost', '::1', '[::1]'].includes(host);

const isOpenHttp = (url: string): boolean => url.startsWith('http://') && !isLoopback(url);
