import type { FastifyInstance } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import { bodyBounds, parseJsonObject } from '../../contract/json-object.ts';
import { describeFaults, nameFaults } from '../../contract/parameter-faults.ts';
import { ProblemError } from '../../contract/problem-error.ts';
import { valueFault } from '../../contract/value-fault.ts';
import { RequestError } from './error.ts';

/** Lets the routes of a scope receive bodies of JSON, unparsed, and no others. */
export function acceptJsonBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => body,
  );
}

/**
 * Reads a JSON body by its schema; throws `ProblemError` with every fault. An absent body has no
 * members.
 */
export function readJsonBody(body: Buffer | undefined, schema: TObject): Readonly<Record<string, unknown>> {
  const parsed = body === undefined || body.length === 0 ? { members: {}, names: [] } : parseJsonObject(body);
  if (parsed === undefined)
    throw new RequestError(
      'INVALID_HTTP_MESSAGE',
      `Cannot read the body: it must be one JSON object in UTF-8, with at most ${bodyBounds.valuesMax} values, at most ${bodyBounds.depthMax} levels deep`,
    );
  const { members, names } = parsed;
  const known = Object.keys(schema.properties);
  const faults = nameFaults(
    names.map((name) => ({ name })),
    known,
  );
  for (const name of known) {
    const property = schema.properties[name] as TSchema;
    const isRequired = schema.required?.includes(name) === true;
    const fault = Object.hasOwn(members, name) || isRequired ? valueFault(name, property, members[name]) : undefined;
    if (fault !== undefined) faults.push(fault);
  }
  if (faults.length > 0) throw new ProblemError(describeFaults(faults, false));
  return members;
}
