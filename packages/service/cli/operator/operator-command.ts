import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ServerChoice, serverOf } from '../../../cli/remote/server.ts';
import { type OperatorScope, operatorScopes } from '../../../contract/oauth/grant.ts';
import { operatorDays, operatorName } from '../../../contract/operator/token.ts';
import { fitsText, readWholeNumber, ruleOf } from '../../../contract/schema.ts';
import { formatTable, type Output, writeResult } from '../../../terminal/output.ts';
import { readConfig } from '../config.ts';
import { jsonOption, parseList } from './client-options.ts';
import { addServerOption, listAll, withOperations } from './operator-api.ts';

interface CreateOptions extends ServerChoice {
  readonly name: string;
  readonly scopes: readonly OperatorScope[];
  readonly expiresDays?: number;
  readonly json?: boolean;
}

export function addOperatorCommand(program: Command, output: Output): void {
  const operator = program.command('operator').description("manage the tokens of the operator's API");
  addCreate(operator, output);
  addList(operator, output);
  addRevoke(operator, output);
  addServerOption(operator);
}

function addCreate(operator: Command, output: Output): void {
  operator
    .command('create')
    .description('create a token and print it once')
    .requiredOption('--name <name>', 'who or what uses the token, for the audit log', parseName)
    .addOption(
      new Option('--scopes <list>', `scopes, separated by commas: ${operatorScopes.join(',')}`)
        .argParser((list: string) => parseList(list, operatorScopes))
        .default(['operator:read'], 'operator:read'),
    )
    .option('--expires-days <days>', 'days until the token expires (default: never)', parseDays)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  subreport operator create --name night-watch\n  subreport operator create --name billing --scopes subscription:write --expires-days 90 --json',
    )
    .action(async ({ json = false, ...options }: CreateOptions) => {
      const { name, scopes, expiresDays } = options;
      const body = { name, scopes: [...scopes], expires_days: expiresDays };
      const created = await withOperations(options, (call) => call('createOperator', { body }));
      writeResult(
        output,
        json,
        created,
        `The operator ${created.id} was created for the service ${placeOf(options)}. The token is shown only now:\n  ${created.token}`,
      );
    });
}

/** Which service accepts the token: a demo, for example, has a directory of its own. */
function placeOf(choice: ServerChoice): string {
  const server = serverOf(choice);
  if (server !== undefined) return `at ${server.url}`;
  const { DATABASE_URL, DATA_DIR } = readConfig();
  return DATABASE_URL === undefined ? `with DATA_DIR=${DATA_DIR}` : 'with this DATABASE_URL';
}

function addList(operator: Command, output: Output): void {
  operator
    .command('list')
    .description('list the tokens, also expired and revoked ones, without their secrets')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport operator list --json')
    .action(async ({ json = false, ...choice }: ServerChoice & { json?: boolean }) => {
      const rows = await withOperations(choice, (call) => listAll(call, 'listOperators'));
      const cells = rows.map((row) => [
        row.id,
        row.name,
        row.scopes.join(','),
        row.created_at,
        row.last_used_at ?? '-',
        row.expires_at ?? '-',
        row.revoked_at ?? '-',
      ]);
      const header = ['OPERATOR', 'NAME', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED'];
      writeResult(output, json, rows, formatTable(header, cells));
    });
}

function addRevoke(operator: Command, output: Output): void {
  operator
    .command('revoke')
    .description('revoke a token; it is rejected from the next request on')
    .argument('<operator>', "id of the token in 'operator list'")
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport operator revoke op-3f1f2f6a7c10')
    .action(async (id: string, { json = false, ...choice }: ServerChoice & { json?: boolean }) => {
      const revoked = await withOperations(choice, (call) => call('revokeOperator', { params: { operator_id: id } }));
      writeResult(output, json, revoked, `The operator ${id} (${revoked.name}) was revoked.`);
    });
}

function parseName(name: string): string {
  if (fitsText(operatorName, name)) return name;
  throw new InvalidArgumentError(`It must be ${ruleOf(operatorName)}`);
}

function parseDays(text: string): number {
  const days = readWholeNumber(operatorDays, text);
  if (days !== undefined) return days;
  throw new InvalidArgumentError(`It must be ${ruleOf(operatorDays)}`);
}
