import type { CountRequest } from './count-work.ts';
import type { Span } from './span.ts';

/** The spans that a change writes and removes; the last call for a span wins. */
export class SpanEdit {
  readonly #put = new Map<string, Span>();
  readonly #remove = new Map<string, Span>();

  put(span: Span): void {
    this.#put.set(idOf(span), span);
    this.#remove.delete(idOf(span));
  }

  remove(span: Span): void {
    this.#remove.set(idOf(span), span);
    this.#put.delete(idOf(span));
  }

  toRequest(): CountRequest {
    return { kind: 'write', put: [...this.#put.values()], remove: [...this.#remove.values()] };
  }
}

const idOf = ({ series, level, from }: Span): string => `${level} ${from.date} ${from.id} ${series}`;
