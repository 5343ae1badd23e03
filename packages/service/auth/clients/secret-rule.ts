/**
 * Common parts of passwords, in lower case, from the usual lists of leaked passwords. Only the rest
 * of a secret counts as hard to guess.
 */
const commonParts: readonly string[] = `
  password passwort passw0rd p@ssw0rd p@ssword passphrase passwd contrasena motdepasse
  secret geheim default changeme changeit letmein welcome willkommen hello admin
  administrator root user guest client login access token test testing demo example
  subreport service system server master super temporary temp sample production
  qwertyuiop qwertzuiop azertyuiop qwerty qwertz azerty asdfghjkl asdfgh asdf zxcvbnm zxcvbn
  1q2w3e4r5t6y 1q2w3e4r 1q2w3e 1qaz2wsx3edc 1qaz2wsx qazwsxedc qazwsx q1w2e3r4 zaq12wsx zaq1
  abcdefghijklmnopqrstuvwxyz abcdefghijklmnop abcdefgh abcdef abc123 abcd abc xyz a1b2c3d4 a1b2c3
  iloveyou monkey dragon football baseball basketball superman batman princess sunshine
  shadow michael jennifer jordan charlie ashley daniel thomas jessica michelle andrew
  trustno1 whatever freedom starwars pokemon computer internet killer hunter soccer hockey
  summer winter spring autumn january february october november december monday friday
  company business corporate private security secure network keycloak oracle mysql postgres
  correcthorsebatterystaple thequickbrownfox loremipsum deadbeef cafebabe 0123456789abcdef 123456789abcdef
`
  .trim()
  .split(/\s+/);

const pattern = /^[\x20-\x7e]{16,512}$/;
/** Minimum number of different characters, and of characters outside common parts. */
const charactersMin = { different: 8, own: 8 };
/** Shortest context word that is checked: a shorter one occurs in too many random strings. */
const contextLengthMin = 4;

/**
 * Returns the rule that a chosen secret breaks, or `undefined`. `context` has the words that an
 * attacker tries first: the client's id, its tenant. (NIST SP 800-63B §5.1.1.2, OWASP ASVS 5.0 6.2)
 */
export function secretFault(secret: string, context: readonly string[]): string | undefined {
  if (!pattern.test(secret)) return 'it must be 16 to 512 printable ASCII characters on one line';
  if (new Set(secret).size < charactersMin.different) {
    return `it must have at least ${charactersMin.different} different characters`;
  }
  const lower = secret.toLowerCase();
  const words = context.map((word) => word.toLowerCase()).filter(({ length }) => length >= contextLengthMin);
  if (words.some((word) => lower.includes(word))) return 'it must not contain the id or the tenant of its client';
  if (withoutCommon(lower).length < charactersMin.own) {
    return `it must have at least ${charactersMin.own} characters that are not part of common words, digit sequences and repetitions`;
  }
  return undefined;
}

const byLength = commonParts.toSorted((one, other) => other.length - one.length);

/** Removes common words, ascending or descending digits, repeated characters and spaces. */
function withoutCommon(lower: string): string {
  const rest = byLength.reduce((remaining, part) => remaining.replaceAll(part, ' '), lower);
  return rest
    .replaceAll(/(?:0?123456789|123456|654321|987654321|12345|1234|123|4321|321|(?:19|20)\d\d)0*/g, ' ')
    .replaceAll(/(.{1,4}?)\1{2,}/g, '$1')
    .replaceAll(/\s+/g, '');
}
