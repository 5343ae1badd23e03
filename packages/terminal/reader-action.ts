import { constants } from 'node:os';
import { ApiError, ConnectionError, SubreportError, TokenRequestError } from '../client/index.ts';
import { inWords } from '../contract/in-words.ts';
import { CommandError, InterruptedError, isDiskFull, UsageError } from './error.ts';
import { printable } from './printable.ts';

/** An error of the service or of a file with a message for the user; others unchanged. */
export function forUser(error: unknown): unknown {
  if (error instanceof SubreportError) {
    const lines = [...messagesOf(error), ...adviceOn(error), ...traceOf(error)];
    const isUsage = error instanceof ApiError && error.code === 'INVALID_REQUEST_PARAMS';
    return new (isUsage ? UsageError : CommandError)(lines.join('\n'));
  }
  // of the client library, about what a server sent; those of the engine have no rule
  if (error instanceof TypeError && /^Cannot [^:]+: /.test(error.message))
    return new CommandError(printable(error.message));
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  const isSystemError = error instanceof Error && code !== undefined && syscall !== undefined;
  if (isSystemError && isDiskFull(error))
    return new CommandError(`Cannot write the result: its disk must have room (${code})`);
  return isSystemError ? new CommandError(`Cannot use a file: ${message}`) : error;
}

/** The parameters of the API are the options of the command, which reads dates in more words. */
const messagesOf = (error: SubreportError): readonly string[] =>
  sentencesOf(error).map((message) =>
    inWords(message, optionOf).replace(
      /an? (past )?ISO 8601 date-time with Z, UTC or an offset/,
      'a $1date such as 2024-05-01 or 7d',
    ),
  );

/** A parameter of the API on the command line. */
function optionOf(name: string, value: string | undefined): string {
  if (name === 'all') return "'subreport export'";
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

/** All sentences of an error. Those of a server may be anything. */
export function sentencesOf(error: SubreportError): readonly string[] {
  const { messages, detail = error.code } = error instanceof ApiError ? error.problem : {};
  const hint = error.message.startsWith(detail) ? error.message.slice(detail.length) : '';
  const sentences: readonly unknown[] = Array.isArray(messages) ? messages : [error.message];
  const isHinted = Array.isArray(messages) && hint !== '';
  return sentences.map((message, at) =>
    printable(String(message) + (isHinted && at === sentences.length - 1 ? hint : '')),
  );
}

const unsentCodes: readonly string[] = ['CONNECTION_REFUSED', 'HOST_NOT_FOUND', 'CERTIFICATE_REJECTED'];

/** The line that finds a request in the log of the service; none if it cannot have arrived. */
export const traceOf = ({ code, correlationId }: SubreportError): string[] =>
  unsentCodes.includes(code) ? [] : [`Correlation id: ${printable(`${correlationId}`)}`];

function adviceOn(error: SubreportError): string[] {
  if (error instanceof TokenRequestError && error.code === 'invalid_client')
    return ["The client id or the secret is not valid: log in again with 'subreport login'."];
  if (error instanceof ConnectionError) return causesOf(error);
  if (error.code === 'UNAUTHORISED') return ["Log in again with 'subreport login'."];
  if (error.code === 'RESYNC_REQUIRED') return ['Read all changes again, without --since, into an empty copy.'];
  return [];
}

/**
 * What a connection failed for, such as a missing route or an expired certificate, as a line; none
 * if the message of the error says it.
 */
export const causesOf = ({ code, cause }: ConnectionError): string[] =>
  code === 'NETWORK_FAILED' || code === 'CERTIFICATE_REJECTED' ? [causeOf(cause)] : [];

function causeOf(failure: unknown): string {
  if (failure instanceof Error && failure.cause !== undefined) return causeOf(failure.cause);
  const text = failure instanceof Error ? failure.message : String(failure);
  return `Cause: ${printable(text.slice(0, 200))}`;
}

/** Milliseconds that a command may take to end after a signal, such as in a database that hangs. */
const stopMsMax = 15_000;

/**
 * Runs a command that reads from a service. Errors of the service and of files become errors with a
 * message for the user. Ctrl-C and SIGTERM abort the signal, so that the command can remove
 * incomplete files. Then throws `InterruptedError`, or ends the process if the command does not.
 */
export async function runReader(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  let ending: NodeJS.Timeout | undefined;
  const stop = (signal: 'SIGINT' | 'SIGTERM') => {
    controller.abort(new InterruptedError(signal));
    ending ??= setTimeout(() => process.exit(128 + constants.signals[signal]), stopMsMax);
  };
  // SIGINT arrives twice, from the terminal and from the launcher: the second one has no effect
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    await run(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : forUser(error);
  } finally {
    clearTimeout(ending);
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
