import { Subscription } from '../../contract/subscription.ts';

// The stored JSON of a record as an import writes it: its values in a fixed order, with known bytes
// between them. Records are copied by these bytes, which takes a tenth of the time of parsing them.

/** A value of a record. */
interface LayoutField {
  /** The JSON between the value before it and this one, without quotes of strings. */
  readonly before: string;
  /** The same as bytes to compare with; the last word may overlap the one before it. */
  readonly bytes: number;
  readonly words: Int32Array;
  readonly isText: boolean;
  readonly isInstant: boolean;
  readonly isOptional: boolean;
}

/** The parts of a schema that decide how its values are converted. */
interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

function toWords(text: string): Pick<LayoutField, 'bytes' | 'words'> {
  const bytes = Buffer.from(text);
  const words = Array.from({ length: Math.ceil(bytes.length / 4) }, (_, index) =>
    bytes.readInt32LE(Math.min(4 * index, bytes.length - 4)),
  );
  return { bytes: bytes.length, words: Int32Array.from(words) };
}

/** All values of a record, in the order of `recordFields`. */
export const layout: LayoutField[] = [];

/** The last bytes of a record, and the line feed after it. */
export const recordEnd = Buffer.from(`${addFields(Subscription, '')}\n`);

/** Adds the values of an object after some JSON; returns the JSON after the last value. */
function addFields({ properties = {}, required = [] }: Schema, before: string): string {
  let json = `${before}{`;
  for (const [name, schema] of Object.entries(properties)) {
    json += `${json.endsWith('{') ? '' : ','}"${name}":`;
    if (schema.properties !== undefined) json = addFields(schema, json);
    else {
      const [isText, isInstant] = [schema.type === 'string', schema.format === 'date-time'];
      layout.push({ before: json, ...toWords(json), isText, isInstant, isOptional: !required.includes(name) });
      json = '';
    }
  }
  return `${json}}`;
}

/** Whether the bytes at a position of `size` bytes are those before a value. */
export function follows(records: DataView, { bytes, words }: LayoutField, at: number, size: number): boolean {
  if (at + bytes > size) return false;
  const last = words.length - 1;
  for (let index = 0; index < last; index += 1)
    if (records.getInt32(at + 4 * index, true) !== words[index]) return false;
  return records.getInt32(at + bytes - 4, true) === words[last];
}

export const viewOf = ({ buffer, byteOffset, byteLength }: Buffer): DataView =>
  new DataView(buffer, byteOffset, byteLength);

const highBits = 0x80808080;

/** Sets the high bit of each byte that is zero, and perhaps of bytes after the first of them. */
export const findByte = (word: number): number => (word - 0x01010101) & ~word & highBits;

/** The same for each control character. */
export const findControl = (word: number): number => (word - 0x20202020) & ~word & highBits;

/** The position of the first byte that was found, in a word that is not 0. */
export const firstFound = (found: number): number => (31 - Math.clz32(found & -found)) >> 3;

export const isDigit = (byte: number | undefined): byte is number => byte !== undefined && byte >= 0x30 && byte <= 0x39;
