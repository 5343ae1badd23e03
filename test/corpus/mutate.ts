/** Numbers from 0 up to a bound, from a seed. */
type Random = (bound: number) => number;

/** A generator of the same numbers for the same seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) % bound;
  };
}

type Mutation = (bytes: Buffer, random: Random) => Buffer;

const asText =
  (change: (text: string, random: Random) => string): Mutation =>
  (bytes, random) =>
    Buffer.from(change(bytes.toString('utf8'), random));
const asLines = (change: (lines: string[], random: Random) => string[]): Mutation =>
  asText((text, random) => change(text.split('\n'), random).join('\n'));
/** Text with something in a place of its own. */
const inserted = (text: string, random: Random, part: string): string => {
  const at = random(text.length + 1);
  return text.slice(0, at) + part + text.slice(at);
};
/** Lines of CSV whose cells have no separator in them. */
const asCells = (change: (cells: string[], random: Random) => string[]): Mutation =>
  asLines((lines, random) => lines.map((line) => change(line.split(','), random).join(',')));

/** What happens to files on their way. */
export const mutations: Readonly<Record<string, Mutation>> = {
  'in Latin-1': (bytes) => Buffer.from(bytes.toString('utf8'), 'latin1'),
  'in UTF-16': (bytes) => Buffer.from(`\ufeff${bytes.toString('utf8')}`, 'utf16le'),
  'decoded twice': (bytes) => Buffer.from(bytes.toString('latin1')),
  'with a mark': (bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes]),
  cut: (bytes, random) => bytes.subarray(0, random(bytes.length + 1)),
  'without its beginning': (bytes, random) => bytes.subarray(random(bytes.length + 1)),
  'with a part repeated': (bytes, random) => {
    const [from, to] = [random(bytes.length), random(bytes.length)].sort((a, b) => a - b) as [number, number];
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  },
  'with another byte': (bytes, random) => {
    const copy = Buffer.from(bytes);
    copy[random(copy.length)] = random(256);
    return copy;
  },
  'with semicolons': asText((text) => text.replaceAll(',', ';')),
  'with tabs': asText((text) => text.replaceAll(',', '\t')),
  'with sep=': asText((text, random) => `sep=${[',', ';', '\t'][random(3)]}\r\n${text}`),
  'with CRLF': asText((text) => text.replaceAll('\n', '\r\n')),
  'with CR': asText((text) => text.replaceAll('\n', '\r')),
  'with a quote': asText((text, random) => inserted(text, random, '"')),
  'with a line end': asText((text, random) => inserted(text, random, '\n')),
  'with a NUL': asText((text, random) => inserted(text, random, '\0')),
  'with a separator': asText((text, random) => inserted(text, random, ',')),
  'without quotes': asText((text) => text.replaceAll('"', '')),
  'with two lines exchanged': asLines((lines, random) => {
    const [a, b] = [random(lines.length), random(lines.length)];
    return lines.map((line, at) => (at === a ? lines[b] : at === b ? lines[a] : line) ?? '');
  }),
  'with its header again': asLines((lines, random) => lines.toSpliced(1 + random(lines.length), 0, lines[0] ?? '')),
  'with a blank row': asLines((lines, random) => lines.toSpliced(random(lines.length), 0, ',,,,,,,,,,,,')),
  'with a column more': asCells((cells) => [...cells, '']),
  'without a column': asCells((cells) => cells.slice(0, -1)),
  'with two columns exchanged': (bytes, random) => {
    const [a, b] = [random(5), random(5)];
    return asCells((cells) => cells.map((cell, at) => (at === a ? cells[b] : at === b ? cells[a] : cell) ?? ''))(
      bytes,
      random,
    );
  },
};
const kinds = Object.values(mutations);

/** A file after one to three mutations. */
export function mutated(bytes: Buffer, random: Random): Buffer {
  let result = bytes;
  for (let left = 1 + random(3); left > 0; left -= 1) result = kinds[random(kinds.length)]?.(result, random) ?? result;
  return result;
}
