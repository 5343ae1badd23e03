import { type Logger, pino } from 'pino';
import { LogDestination } from './log-destination.ts';

const service = 'subreport';

/**
 * Logs JSON lines to standard output, each with the members of `more`. Errors are logged with name,
 * code, message and stack only, because drivers attach data to theirs.
 */
export function createLogger(level: string, more: Readonly<Record<string, number>> = {}): Logger {
  const base = { service, ...more };
  return pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    openStandardOutput(base),
  );
}

function openStandardOutput(base: object): LogDestination {
  void process.stdout; // its first use creates the stream, which sets a pipe to non-blocking
  const destination = new LogDestination(1, {
    describeDropped: (dropped) => {
      const msg = 'log lines were dropped: standard output did not accept them in time';
      return `${JSON.stringify({ level: 'warn', time: new Date(), ...base, dropped, msg })}\n`;
    },
  });
  process.once('exit', () => destination.end());
  return destination;
}

function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return { type: name, code, message, stack, ...(cause instanceof Error && { cause: describeError(cause) }) };
}
