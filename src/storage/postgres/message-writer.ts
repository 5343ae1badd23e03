/** The type of a message and its length. */
const headBytes = 5;

/**
 * Writes messages to the server into one buffer ("Message Formats" of PostgreSQL). The driver makes
 * a buffer and a write for each: a batch of five statements took 16 of them.
 */
export class MessageWriter {
  #bytes = Buffer.allocUnsafe(1_024);
  #end = 0;

  /** Prepares a statement; the server infers the types of its values. */
  parse(name: string, text: string): void {
    this.#message('P', () => {
      this.#string(name);
      this.#string(text);
      this.#int16(0);
    });
  }

  /** Binds values to a prepared statement; they and the result are sent as text. */
  bind(name: string, values: readonly (string | number | null)[]): void {
    this.#message('B', () => {
      this.#string('');
      this.#string(name);
      this.#int16(0);
      this.#int16(values.length);
      for (const value of values) this.#value(value);
      this.#int16(0);
    });
  }

  /** Asks for the columns of the bound statement. */
  describe(): void {
    this.#message('D', () => this.#string('P'));
  }

  execute(): void {
    this.#message('E', () => {
      this.#string('');
      this.#int32(0);
    });
  }

  sync(): void {
    this.#message('S', () => undefined);
  }

  /** All messages; nothing may be written afterwards. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#end);
  }

  #message(type: string, write: () => void): void {
    const start = this.#end;
    this.#reserve(headBytes);
    this.#bytes.write(type, start, 'latin1');
    this.#end += headBytes;
    write();
    this.#bytes.writeInt32BE(this.#end - start - 1, start + 1);
  }

  #value(value: string | number | null): void {
    const start = this.#end;
    this.#int32(-1); // null has no bytes
    if (value === null) return;
    this.#text(String(value));
    this.#bytes.writeInt32BE(this.#end - start - 4, start);
  }

  #string(text: string): void {
    this.#text(text);
    this.#reserve(1);
    this.#bytes[this.#end] = 0;
    this.#end += 1;
  }

  #text(text: string): void {
    this.#reserve(text.length * 3); // the most bytes of UTF-8
    this.#end += this.#bytes.write(text, this.#end, 'utf8');
  }

  #int16(value: number): void {
    this.#reserve(2);
    this.#end = this.#bytes.writeInt16BE(value, this.#end);
  }

  #int32(value: number): void {
    this.#reserve(4);
    this.#end = this.#bytes.writeInt32BE(value, this.#end);
  }

  #reserve(count: number): void {
    if (this.#end + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#end + count));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}
