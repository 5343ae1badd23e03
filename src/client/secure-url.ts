/**
 * Throws `TypeError` unless a URL protects the secrets that are sent to it: https, or http on this
 * machine (RFC 8414 §6.1, RFC 8252 §8.3).
 */
export function requireSecureUrl(text: string, allowHttp = false): void {
  const { protocol, host, hostname, username, password } = new URL(text);
  const isHttpAllowed = allowHttp || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (username + password === '' && (protocol === 'https:' || (protocol === 'http:' && isHttpAllowed))) return;
  throw new TypeError(
    `Cannot send secrets to a URL: it must be https without a user name, or http on this machine (allowHttp permits http elsewhere): current value is '${protocol}//${host}'`,
  );
}
