import type { TSchema } from 'typebox';
import { parseForm } from '../../contract/form.ts';
import { pathParameters } from '../../contract/operator-parameters.ts';
import { describeFaults, malformedFault, nameFaults } from '../../contract/parameter-faults.ts';
import type { Fault } from '../../contract/problem.ts';
import { ProblemError } from '../../contract/problem-error.ts';
import { fitsText, readWholeNumber, ruleOf } from '../../contract/schema.ts';
import { shorten } from '../../contract/shorten.ts';
import { RequestError } from '../listener/error.ts';

/**
 * Returns path parameters; one that breaks the rule of its schema names nothing, and PostgreSQL
 * would reject a NUL.
 */
export function readPath(params: unknown): Readonly<Record<string, string>> {
  const values = params as Readonly<Record<string, string>>;
  for (const [name, value] of Object.entries(values)) {
    const schema = pathParameters[name];
    if (schema !== undefined && !fitsText(schema, value))
      throw new RequestError('NOT_FOUND', `Cannot find the resource: ${name} must be ${ruleOf(schema)}`);
  }
  return values;
}

/** Reads a query string by its parameters' schemas; throws `ProblemError` with every fault. */
export function readQuery(
  query: string,
  schemas: Readonly<Record<string, TSchema>>,
): Readonly<Record<string, string | number>> {
  const { pairs, malformed } = parseForm(query);
  const faults: Fault[] = [...malformed.map(malformedFault), ...nameFaults(pairs, Object.keys(schemas))];
  const values: Record<string, string | number> = {};
  for (const { name, value } of pairs) {
    const schema = schemas[name];
    if (schema === undefined) continue; // already reported
    const read = readParameter(schema, value);
    if (read === undefined) faults.push({ parameter: name, value: shorten(value), rule: ruleOf(schema) });
    else values[name] = read;
  }
  if (faults.length > 0) throw new ProblemError(describeFaults(faults, malformed.length > 0));
  return values;
}

function readParameter(schema: TSchema, value: string): string | number | undefined {
  if ((schema as { type?: string }).type === 'integer') return readWholeNumber(schema, value);
  const { enum: allowed } = schema as { enum?: readonly string[] };
  const isAllowed = allowed === undefined ? fitsText(schema, value) : allowed.includes(value);
  return isAllowed ? value : undefined;
}
