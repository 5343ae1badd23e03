import { type Logger, pino } from 'pino';
import { LogDestination } from './log-destination.ts';

const service = 'subreport';

/**
 * JSON lines on standard output, each with the members of `more`. Errors are written by name, code,
 * message and stack alone: what drivers hang on theirs may hold data.
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
  void process.stdout; // made by its first use, which is what puts a pipe into non-blocking mode
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
