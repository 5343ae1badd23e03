import { type ServerChoice, serverOf } from '../../../cli/remote/server.ts';
import { readConfig } from '../config.ts';
import { commandGroup, listCommand, operationCommand } from './operation-command.ts';
import { beginStore } from './operator-api.ts';

const create = operationCommand({
  name: 'create',
  operation: 'createOperator',
  description: 'create a token and print it once',
  inputs: {
    name: { hint: 'who or what uses the token, for the audit log' },
    scopes: { hint: 'scopes', default: ['operator:read'] },
    expires_days: { hint: 'days until the token expires (default: never)', flags: '--expires-days <days>' },
    current_token: null,
  },
  examples: [
    'operator create --name night-watch',
    'operator create --name billing --scopes subscription:write --expires-days 90 --json',
  ],
  prepare: beginStore,
  text: ({ id, token }, _, options) =>
    `The operator ${id} was created for the service ${placeOf(options)}. The token is shown only now:\n  ${token}`,
});

/** Which service accepts the token: a demo, for example, has a directory of its own. */
function placeOf(choice: ServerChoice): string {
  const server = serverOf(choice);
  if (server !== undefined) return `at ${server.url}`;
  const { DATABASE_URL, DATA_DIR } = readConfig();
  return DATABASE_URL === undefined ? `with DATA_DIR=${DATA_DIR}` : 'with this DATABASE_URL';
}

const list = listCommand({
  name: 'list',
  operation: 'listOperators',
  description: 'list the tokens, also expired and revoked ones, without their secrets',
  examples: ['operator list --json'],
  columns: {
    OPERATOR: 'id',
    NAME: 'name',
    SCOPES: 'scopes',
    CREATED: 'created_at',
    'LAST USED': 'last_used_at',
    EXPIRES: 'expires_at',
    REVOKED: 'revoked_at',
  },
});

const revoke = operationCommand({
  name: 'revoke',
  operation: 'revokeOperator',
  description: 'revoke a token; it is rejected from the next request on',
  inputs: { operator_id: { argument: '<operator>', hint: "id of the token in 'operator list'" } },
  examples: ['operator revoke op-3f1f2f6a7c10'],
  text: ({ id, name }) => `The operator ${id} (${name}) was revoked.`,
});

export const addOperatorCommand = commandGroup('operator', "manage the tokens of the operator's API", [
  create,
  list,
  revoke,
]);
