/** Whether a URL leads to this machine. */
export const isOnThisMachine = (url: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);

/**
 * Throws `TypeError` unless a URL protects the secrets that are sent to it: https, or http on this
 * machine (RFC 8414 §6.1, RFC 8252 §8.3).
 */
export function requireSecureUrl(text: string, allowHttp = false): void {
  if (!URL.canParse(text))
    throw new TypeError(
      `Cannot use a URL: it must be one such as https://reports.example.com: current value is '${text}'`,
    );
  const { protocol, host, username, password } = new URL(text);
  const isHttpAllowed = allowHttp || isOnThisMachine(text);
  if (username + password === '' && (protocol === 'https:' || (protocol === 'http:' && isHttpAllowed))) return;
  throw new TypeError(
    `Cannot send secrets to a URL: it must be https without a user name, or http on this machine (allowHttp permits http elsewhere): current value is '${protocol}//${host}'`,
  );
}
