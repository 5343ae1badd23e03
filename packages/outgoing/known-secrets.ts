/** Shorter secrets could be words of a message. */
const secretLengthMin = 8;

/** Everything that a message must not show, the longest first. */
let forms: readonly string[] = [];

/** The access token that was sent last, which is valid for minutes. */
let lastToken = '';

/** Remembers the access token of a request, instead of the previous one. */
export function rememberToken(token: string): void {
  lastToken = token;
}

/** Remembers a secret that a server knows: what leaves the program shows `***` instead of it. */
export function rememberSecret(secret: string | undefined, clientId?: string): void {
  if (secret === undefined || secret.length < secretLengthMin) return;
  const basic = clientId === undefined ? [] : [`${clientId}:${secret}`];
  const encoded = [secret, ...basic].flatMap((text) => [
    encodeURIComponent(text),
    new URLSearchParams([['', text]]).toString().slice(1),
    JSON.stringify(text).slice(1, -1),
    Buffer.from(text).toString('base64'),
    Buffer.from(text).toString('base64url'),
  ]);
  forms = [...new Set([...forms, secret, ...encoded])].sort((a, b) => b.length - a.length);
}

/** Masks each secret that this program knows, also where it is encoded. */
export function maskSecrets(text: string): string {
  const known = lastToken.length < secretLengthMin ? forms : [lastToken, ...forms];
  return known.reduce((left, form) => left.replaceAll(form, '***'), text);
}
