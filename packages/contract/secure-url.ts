/**
 * Whether a URL authenticates its server: https, or http on this machine only (RFC 8414 §6.1, RFC
 * 8252 §8.3).
 */
export function isSecureUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isOnThisMachine(value));
}

/** Whether a text is a URL that leads to this machine. */
export const isOnThisMachine = (url: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(URL.parse(url)?.hostname ?? '');
