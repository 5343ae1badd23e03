import type { ErrorCode } from '../../contract/error.ts';

/** A request that is refused before any room is asked. The message is shown to the client. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: ErrorCode;
  /** Header fields of the answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** All that is wrong, a sentence each; `message` is the first. */
  readonly messages: readonly string[];

  constructor(
    code: ErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    more: readonly string[] = [],
  ) {
    super(message);
    this.messages = [message, ...more];
    this.code = code;
    this.headers = headers;
  }
}
