import { type Logger, pino } from 'pino';

/** JSON lines on standard output, each with the members of `more`. Errors are written by name, code, message and stack alone: what drivers hang on theirs may hold data. */
export function createLogger(level: string, more: Readonly<Record<string, number>> = {}): Logger {
  return pino({
    level,
    base: { service: 'subreport', ...more },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
  });
}

function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return { type: name, code, message, stack, ...(cause instanceof Error && { cause: describeError(cause) }) };
}
