import { inWords } from '../../contract/in-words.ts';
import { CommandError, UsageError } from '../../terminal/error.ts';
import { printable } from '../../terminal/printable.ts';

/** The query string with the given parameters; empty if there are none. */
export function queryOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** The error of an operation that was refused, in the words of a command. */
export function refusalOf(code: string | undefined, messages: readonly unknown[], more: readonly string[] = []): Error {
  const sentences = messages.map((message) => inWords(String(message), (name) => `'${name}'`));
  const message = [...sentences, ...more].map(printable).join('\n');
  return code === 'INVALID_REQUEST_PARAMS' ? new UsageError(message) : new CommandError(message);
}
