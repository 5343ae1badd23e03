import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import { LogDestination } from './log-destination.ts';
import { formatLogText } from './log-text.ts';

const service = 'subreport';

type LogSettings = Pick<Config, 'LOG_LEVEL' | 'LOG_FORMAT'>;

/** Whether log lines are text for people rather than JSON. */
export const logsText = ({ LOG_FORMAT: format }: Pick<LogSettings, 'LOG_FORMAT'>): boolean =>
  format === 'text' || (format === 'auto' && process.stdout.isTTY);

/**
 * Logs lines of JSON or text to standard output, each with the members of `more`. Errors are logged
 * with name, code, message and stack only, because drivers attach data to theirs.
 */
export function createLogger(config: LogSettings, more: Readonly<Record<string, number>> = {}): Logger {
  const base = { service, ...more };
  return pino(
    {
      level: config.LOG_LEVEL,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    openStandardOutput(base, logsText(config) ? formatAsText : formatAsJson),
  );
}

const formatAsJson = (line: string): string => line;
const formatAsText = (line: string): string => formatLogText(line, process.stdout.isTTY && process.stdout.hasColors());

function openStandardOutput(base: object, format: (line: string) => string): DestinationStream {
  void process.stdout; // its first use creates the stream, which sets a pipe to non-blocking
  const destination = new LogDestination(1, {
    describeDropped: (dropped) => {
      const msg = 'log lines were dropped: standard output did not accept them in time';
      return format(`${JSON.stringify({ level: 'warn', time: new Date(), ...base, dropped, msg })}\n`);
    },
  });
  process.once('exit', () => destination.end());
  return { write: (line) => destination.write(format(line)) };
}

function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return { type: name, code, message, stack, ...(cause instanceof Error && { cause: describeError(cause) }) };
}
