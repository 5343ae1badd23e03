import { inflateRawSync } from 'node:zlib';

/** A cell as the sheet has it: without a type, the value is a number. */
export interface SheetCell {
  readonly type: string | undefined;
  readonly value: string;
  /** The number format of its style. */
  readonly format: string;
}

/** Reads the rows of the only sheet of a workbook (ECMA-376), without the library that wrote it. */
export function readWorkbook(file: Buffer): SheetCell[][] {
  const parts = unzip(file);
  const styles = numberFormats(parts.get('xl/styles.xml') ?? '');
  const sheet = parts.get('xl/worksheets/sheet1.xml') ?? '';
  return Array.from(sheet.matchAll(/<row [^>]*>(.*?)<\/row>/gs), ([, row = '']) => {
    const cells: SheetCell[] = [];
    for (const [, column = '', attributes = '', content = ''] of row.matchAll(cell)) {
      cells[column.charCodeAt(0) - 'A'.charCodeAt(0)] = {
        type: /t="(\w+)"/.exec(attributes)?.[1],
        value: textOf(/<(?:t|v)(?: [^>]*)?>(.*?)<\/(?:t|v)>/s.exec(content)?.[1] ?? ''),
        format: styles[Number(/s="(\d+)"/.exec(attributes)?.[1] ?? 0)] ?? '',
      };
    }
    return cells;
  });
}

/** A cell of the columns A to Z, with or without content. */
const cell = /<c r="([A-Z])\d+"([^>]*?)(?:\/>|>(.*?)<\/c>)/gs;

/** The instant of a date cell, which counts days from 1899-12-30. */
export function instantOf({ value }: SheetCell): string {
  const ms = Math.round((Number(value) - 25_569) * 86_400) * 1000;
  return new Date(ms).toISOString().replace('.000', '');
}

/** The files of a ZIP archive, by its central directory (APPNOTE.TXT §4.3.12). */
function unzip(file: Buffer): Map<string, string> {
  const end = file.lastIndexOf('PK\x05\x06');
  const parts = new Map<string, string>();
  let at = file.readUInt32LE(end + 16);
  for (let left = file.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [method, bytes] = [file.readUInt16LE(at + 10), file.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((field) => file.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    const local = file.readUInt32LE(at + 42);
    const start = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28);
    const content = file.subarray(start, start + bytes);
    parts.set(file.toString('utf8', at + 46, at + 46 + name), String(method === 0 ? content : inflateRawSync(content)));
    at += 46 + name + extra + comment;
  }
  return parts;
}

function numberFormats(styles: string): string[] {
  const formats = new Map(
    Array.from(styles.matchAll(/<numFmt numFmtId="(\d+)" formatCode="([^"]*)"/g), ([, id, code]) => [id, code]),
  );
  const cellStyles = /<cellXfs.*?<\/cellXfs>/s.exec(styles)?.[0] ?? '';
  return Array.from(cellStyles.matchAll(/<xf numFmtId="(\d+)"/g), ([, id]) => formats.get(id) ?? `built-in ${id}`);
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Undoes the escapes of XML, and then those of the format (`_x0041_`). */
const textOf = (xml: string): string =>
  xml
    .replaceAll(/&(lt|gt|amp|quot|apos);/g, (_, name: string) => entities[name] ?? '')
    .replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
