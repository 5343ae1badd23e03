import pg from 'pg';
import type { LineBatch } from '../../store.ts';
import type { MessageHandler } from './driver.ts';

/** The type of a message with a row. */
const dataRow = 'D'.charCodeAt(0);
/** Bytes of a row's only value after the number of columns and its own length. */
const lengthAt = 2;
const valueAt = 6;
const lineFeed = 10;

/**
 * A query of one column of text without nulls, as the driver sees it: collects the values as lines,
 * in the given memory as long as it suffices.
 */
export class LineQuery extends pg.Query implements MessageHandler {
  /** The driver calls this at the end. */
  callback: (error?: unknown) => void = () => undefined;
  memory: Buffer;
  #rows = 0;
  #bytes = 0;

  constructor(text: string, memory: Buffer) {
    super(text);
    this.memory = memory;
  }

  /** Runs the query on a client whose messages are read with `readMessages`. */
  run(client: pg.ClientBase): Promise<LineBatch> {
    return new Promise((resolve, reject) => {
      this.callback = (error) =>
        error === null || error === undefined
          ? resolve({ rows: this.#rows, lines: this.memory.subarray(0, this.#bytes) })
          : reject(error);
      client.query(this);
    });
  }

  handleMessage(type: number, bytes: Buffer, start: number): boolean {
    if (type !== dataRow) return false;
    const length = bytes.readInt32BE(start + lengthAt);
    this.#reserve(length + 1);
    this.#bytes += bytes.copy(this.memory, this.#bytes, start + valueAt, start + valueAt + length);
    this.memory[this.#bytes] = lineFeed;
    this.#bytes += 1;
    this.#rows += 1;
    return true;
  }

  #reserve(bytes: number): void {
    if (this.#bytes + bytes <= this.memory.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#bytes + bytes));
    this.memory.copy(larger, 0, 0, this.#bytes);
    this.memory = larger;
  }
}
