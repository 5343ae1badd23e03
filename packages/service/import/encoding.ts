import { shorten } from '../../contract/problem.ts';
import { unreadable } from './source-head.ts';

/**
 * Returns the name of an encoding, or `undefined` for UTF-8, of which US-ASCII is a part. For an
 * unknown one, `refuse` throws and says what it must be.
 */
export function encodingOf(label: string, refuse: (rule: string) => never): string | undefined {
  try {
    const decoder = new TextDecoder(label.replace(/^\s*(us-)?ascii\s*$/i, 'utf-8').replace(/x-user-defined/i, ''));
    const { encoding } = decoder; // first versions of Node.js 24 decode windows-1252 as Latin-1
    if (encoding === 'windows-1252' && decoder.decode(Uint8Array.of(0x80)) !== '€') throw new RangeError(encoding);
    return encoding === 'utf-8' ? undefined : encoding;
  } catch {
    return refuse('an encoding that TextDecoder knows, such as windows-1250, shift_jis or utf-16le');
  }
}

/** Converts a source to UTF-8. Throws `ImportError` for bytes that its encoding does not have. */
export async function* toUtf8(source: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let bytes = 0;
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      yield Buffer.from(decoder.decode(chunk, { stream: true }));
    }
    yield Buffer.from(decoder.decode());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    throw unreadable(`it must be ${encoding}, the encoding that was named: it is not, within ${bytes} bytes`);
  }
}

/** Encodings of files: of those in which a word reads as likely, the most frequent ones first. */
const likely =
  'windows-1252 windows-1250 windows-1254 windows-1251 koi8-r ibm866 iso-8859-2 windows-1257 windows-1253 windows-1255 windows-1256 euc-kr shift_jis gb18030 big5 euc-jp macintosh';
let decoders: readonly TextDecoder[] | undefined;

/** Most words that are compared: all of a row of 16 KiB took 9 ms, and a load may reject 10,000. */
const wordsMax = 200;

/** What bytes that are not UTF-8 must be, with a word as encodings read it, which is no address. */
export function utf8RuleOf(bytes: Buffer): string {
  const foreign = (word: string): number => word.replaceAll(/[\0-\x7f]/g, '').length;
  const text = bytes.toString('latin1').replaceAll(/[^\0- "',;|]+/g, (each) => (each.includes('@') ? '' : each));
  const words = text.match(/(?<![^\0-,/:-?|\x7f])[^\0-,/:-?|\x7f]{1,40}(?![^\0-,/:-?|\x7f])/g);
  const [word = ''] = words?.slice(0, wordsMax).toSorted((a, b) => foreign(b) - foreign(a)) ?? [];
  const readings = foreign(word) === 0 ? '' : `: ${readingsOf(Buffer.from(word, 'latin1'))}`;
  return `UTF-8, or its encoding must be named (--encoding, charset)${readings}`;
}

function readingsOf(word: Buffer): string {
  decoders ??= likely.split(' ').map((each) => new TextDecoder(each, { fatal: true }));
  const readings = new Map<string, string>();
  for (const decoder of decoders) {
    try {
      const text = decoder.decode(word);
      if (!readings.has(text) && !/\p{C}/u.test(text)) readings.set(text, decoder.encoding);
    } catch {
      // TypeError: the word is not in this encoding
    }
  }
  const sorted = [...readings].toSorted(([a], [b]) => Number(isWord(b)) - Number(isWord(a)));
  const shown = Math.max(2, sorted.filter(([text]) => isWord(text)).length);
  return sorted
    .slice(0, Math.min(shown, 3))
    .map(([text, name]) => `${shorten(text, 16)} (${name})`)
    .join(', ');
}

/** Whether a text is of one script, with capitals at its beginning or everywhere. */
const isWord = (text: string): boolean =>
  scripts.test(text) && /^(\p{Lu}?[^\p{Lu}]*|[^\p{Ll}]*)$/u.test(text) && !/[\uff61-\uff9f]/.test(text);

/** A Latin word has a letter without an accent; those of Icelandic are rarer than mistakes. */
const scripts =
  /^[-.'_0-9]*(?:(?=.*[a-z])(?!.*[ðþ])[\p{Script=Latin}'-]+|\p{Script=Cyrillic}+|\p{Script=Greek}+|[א-ת]+|\p{Script=Arabic}+|\p{Script=Hangul}+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+)[-.'_0-9]*$/iu;
