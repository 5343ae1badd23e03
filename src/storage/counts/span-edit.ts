import type { CountRequest } from './count-work.ts';
import type { Span } from './span.ts';

/** The spans that a change writes and removes; what is said last about a span counts. */
export class SpanEdit {
  readonly #put = new Map<string, Span>();
  readonly #remove = new Map<string, Span>();

  put(span: Span): void {
    this.#put.set(placeOf(span), span);
    this.#remove.delete(placeOf(span));
  }

  remove(span: Span): void {
    this.#remove.set(placeOf(span), span);
    this.#put.delete(placeOf(span));
  }

  toRequest(): CountRequest {
    return { kind: 'write', put: [...this.#put.values()], remove: [...this.#remove.values()] };
  }
}

const placeOf = ({ series, level, from }: Span): string => `${level} ${from.date} ${from.id} ${series}`;
