import { styleText } from 'node:util';
import { printableJson } from '../../../terminal/printable.ts';

interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
  readonly service?: string;
  readonly err?: LoggedError;
  readonly [member: string]: unknown;
}

interface LoggedError {
  readonly message: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
}

type Color = Parameters<typeof styleText>[0];

const levelColors: Readonly<Record<string, Color>> = { info: 'green', warn: 'yellow', error: 'red', fatal: 'red' };

/**
 * Formats a JSON line of the log for people: local time, level, message and the other members,
 * followed by the stack of an error. Control characters are escaped, so that nothing that a client
 * sends can move the cursor or start a line.
 */
export function formatLogText(json: string, hasColors: boolean): string {
  const paint = (color: Color, text: string): string =>
    hasColors ? styleText(color, text, { validateStream: false }) : text;
  const { time, level, msg, service: _service, err, ...others } = JSON.parse(json) as LogLine;
  const { message, members } = msg === 'request' ? describeRequest(others) : { message: msg, members: others };
  const head = [
    paint('dim', new Date(time).toTimeString().slice(0, 8)),
    paint(levelColors[level] ?? 'blue', level.toUpperCase().padEnd(5)),
    escapeControls([message, ...messagesOf(err)].join(': ')),
  ];
  const tail = Object.entries(members)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${formatValue(value)}`);
  const first = [...head, ...(tail.length === 0 ? [] : [paint('dim', tail.join(' '))])].join(' ');
  const lines = [first, ...framesOf(err?.stack).map((frame) => paint('dim', frame))];
  return `${lines.join('\n')}\n`;
}

/** A request as a sentence. Its correlation id and its trace are shown only if it failed. */
function describeRequest(members: Readonly<Record<string, unknown>>) {
  const {
    method,
    route,
    status,
    duration_ms: ms,
    correlation_id: id,
    trace_id: trace,
    span_id: _span,
    ...rest
  } = members;
  const hasFailed = Number(status) >= 400;
  return {
    message: `${method} ${route ?? '(unknown path)'} ${status} in ${Number(ms).toFixed(1)} ms`,
    members: { ...rest, ...(hasFailed && { correlation_id: id, trace_id: trace ?? null }) },
  };
}

const messagesOf = (error: LoggedError | undefined): string[] =>
  error === undefined ? [] : [error.message, ...messagesOf(error.cause)];

const framesOf = (stack = ''): string[] =>
  stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map(escapeControls);

function formatValue(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[^\s"=]+$/.test(value);
  return escapeControls(isPlain ? value : JSON.stringify(value));
}

/** Escapes characters that control a terminal or the direction of text. */
const escapeControls = (text: string): string => printableJson(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
