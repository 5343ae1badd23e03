/**
 * Whether a URL authenticates its server: https, or http on this machine only (RFC 8414 §6.1, RFC
 * 8252 §8.3).
 */
export function isSecureUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback.test(url.hostname));
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Whether an issuer's keys may be fetched from a URL: over https, or over http on this machine if
 * the issuer is on this machine too.
 */
export function isKeysUrlOf(issuer: string, keysUrl: string): boolean {
  return isSecureUrl(keysUrl) && (issuer.startsWith('http://') || keysUrl.toLowerCase().startsWith('https://'));
}
