import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import { bodyDepthMax, parseJsonObject } from '../../../contract/json-object.ts';
import { valueFault } from '../../../contract/json-value.ts';
import { describeFaults, nameFaults } from '../../../contract/parameter-faults.ts';
import { ProblemError } from '../../../contract/problem.ts';
import { RequestError } from './error.ts';

/** Minimum rate of a streamed request body. */
export interface BodyPace {
  /** Longest wait for the next bytes, in milliseconds. */
  readonly stallMs: number;
  /**
   * Bytes per second that must arrive on average while they are awaited, checked whenever the
   * service has waited for another `stallMs` in total: what came before counts no more.
   */
  readonly rateMin: number;
}

/**
 * Reads the body of a request, as fast as it is consumed. Throws `RequestError` if the client
 * disconnects, or sends more slowly than it may.
 */
export async function* readBody(request: IncomingMessage, { stallMs, rateMin }: BodyPace): AsyncGenerator<Buffer> {
  // a client that is rejected early must still be able to read the response
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  let isWaiting = false;
  let [waitedMs, bytes] = [0, 0];
  try {
    for (;;) {
      isWaiting = true;
      const beganMs = performance.now();
      const { done, value } = await inTime(chunks.next(), stallMs);
      isWaiting = false;
      if (done === true) return;
      waitedMs += performance.now() - beganMs;
      bytes += value.length;
      if (waitedMs > stallMs) {
        if (bytes * 1_000 < rateMin * waitedMs)
          throw tooSlow(`its bytes must arrive at ${rateMin} per second on average`);
        [waitedMs, bytes] = [0, 0];
      }
      yield value;
    }
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError(
      'INVALID_HTTP_MESSAGE',
      'Cannot read the body: it must be complete: the connection was closed',
    );
  } finally {
    if (!isWaiting) await chunks.return?.(); // a pending read ends when the connection closes
  }
}

/** Refuses a request whose body has not arrived within `ms`, unless it is exempt by then. */
export function limitBody({ raw }: FastifyRequest, reply: FastifyReply, ms: number, isExempt: () => boolean): void {
  const timer = setTimeout(() => {
    if (!raw.complete && !reply.sent && !isExempt()) reply.send(tooSlow(`it must arrive within ${ms / 1000} s`));
  }, ms);
  raw.once('close', () => clearTimeout(timer));
}

/**
 * Discards the rest of a body for at most `ms`, as many clients read the response only after
 * sending the whole body. Then the connection is closed.
 */
export function discardBody(request: IncomingMessage, ms: number): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), ms);
  request.once('close', () => clearTimeout(timer));
  request.removeAllListeners('readable'); // while a reader has one, nothing flows
  request.on('data', () => undefined); // without one, a body that flows already would stop
  request.resume();
}

/**
 * Keeps the connection of a body that was rejected by its size or media type. Fastify would close
 * it, and a client that sends the whole body before it reads would see a broken pipe.
 */
export function keepConnection(error: unknown, reply: FastifyReply): void {
  if ((error as { code?: string }).code?.startsWith('FST_ERR_CTP_') === true) reply.removeHeader('connection');
}

function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(tooSlow(`its next bytes must arrive within ${ms / 1000} s`));
    }, ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

const tooSlow = (rule: string): RequestError =>
  new RequestError('REQUEST_TIMEOUT', `Cannot read the body: ${rule}`, { headers: { connection: 'close' } });

/**
 * Reads a JSON body by its schema; throws `ProblemError` with every fault. An absent body has no
 * members.
 */
export function readJsonBody(body: Buffer | undefined, schema: TObject): Readonly<Record<string, unknown>> {
  const parsed = body === undefined || body.length === 0 ? { members: {}, names: [] } : parseJsonObject(body);
  if (parsed === undefined)
    throw new RequestError(
      'INVALID_HTTP_MESSAGE',
      `Cannot read the body: it must be one JSON object in UTF-8, at most ${bodyDepthMax} levels deep`,
    );
  const { members, names } = parsed;
  const known = Object.keys(schema.properties);
  const given = names.map((name) => ({ name }));
  const faults = nameFaults(given, known, 'left out: the body of this operation has no members');
  for (const name of known) {
    const property = schema.properties[name] as TSchema;
    const isRequired = schema.required?.includes(name) === true;
    const fault = Object.hasOwn(members, name) || isRequired ? valueFault(name, property, members[name]) : undefined;
    if (fault !== undefined) faults.push(fault);
  }
  if (faults.length > 0) throw new ProblemError(describeFaults(faults, false));
  return members;
}
