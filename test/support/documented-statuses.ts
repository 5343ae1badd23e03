import { readFileSync } from 'node:fs';
import { operations } from '../../packages/contract/operations.ts';
import { operatorOperations } from '../../packages/contract/operator/operations.ts';
import { operationNames } from '../../packages/service/http/listener/operation-routes.ts';

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string; responses: object }>>>>;
}

/** The statuses of each operation in both documents. */
const documented = new Map<string, Set<string>>();
for (const file of ['openapi.json', 'openapi-operator.json']) {
  const { paths }: OpenApi = JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
  for (const { operationId, responses } of Object.values(paths).flatMap((item) => Object.values(item)))
    documented.set(operationId, new Set([...(documented.get(operationId) ?? []), ...Object.keys(responses)]));
}

const { nameOf } = operationNames({ ...operations, ...operatorOperations });
const line = /"method":"([A-Z]+)","route":"([^"]+)","status":(\d{3})/g;

/** Throws if a service has sent a status that the contract does not have for its operation. */
export function requireDocumented(logText: string): void {
  const found = new Set<string>();
  for (const [, method = '', route = '', status = ''] of logText.matchAll(line)) {
    const name = nameOf(method, route);
    if (documented.get(name)?.has(status) === false) found.add(`${name} ${status}`);
  }
  if (found.size > 0)
    throw new Error(`openapi.json and openapi-operator.json must have these responses: ${[...found].join(', ')}`);
}
