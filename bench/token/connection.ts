import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer of a server. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * A kept-alive HTTP/1.1 connection that carries one request after another. It reads no more of an
 * answer than its status and `Content-Length`, so that the load generator takes little of the
 * machine that it shares with what it measures.
 */
export class Connection {
  readonly #socket: Socket;
  #received = '';
  #pending: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true).setEncoding('latin1'); // one character is one byte
    socket.on('data', (chunk) => this.#receive(String(chunk)));
    socket.on('error', (error) => this.#pending?.reject(error));
    socket.on('close', () => this.#pending?.reject(new Error('Cannot measure: the server closed a connection in use')));
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Sends a whole request and waits for its answer. */
  send(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#socket.write(request, 'latin1');
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: string): void {
    this.#received += chunk;
    const headersEnd = this.#received.indexOf('\r\n\r\n');
    if (headersEnd < 0) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#received.slice(0, headersEnd))?.[1];
    if (length === undefined) {
      this.#pending?.reject(new Error('Cannot measure: answers must have a Content-Length'));
      return;
    }
    const bodyStart = headersEnd + 4;
    if (this.#received.length < bodyStart + Number(length)) return;
    const answer = { status: Number(this.#received.slice(9, 12)), body: this.#received.slice(bodyStart) };
    this.#received = '';
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve(answer);
  }
}

/** A POST of a form. */
export function formRequest(path: string, form: Readonly<Record<string, string>>): string {
  const body = new URLSearchParams(form).toString();
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** A GET with an access token. */
export function getRequest(path: string, token: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`;
}
