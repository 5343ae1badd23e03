import { type Command, InvalidArgumentError, Option } from 'commander';
import { operatorDays, operatorName } from '../contract/operator-token.ts';
import { fitsText, readWholeNumber, ruleOf } from '../contract/schema.ts';
import { type OperatorScope, operatorScopes } from '../contract/scope.ts';
import { describeOperator } from '../operator/describe-operator.ts';
import { createOperator, listOperators, revokeOperator } from '../operator/operators.ts';
import type { OperatorToken } from '../storage/tables/operator-token.ts';
import { jsonOption, parseList } from './client-options.ts';
import { withOperator } from './command-context.ts';
import { readConfig } from './config.ts';
import { listAll } from './list-all.ts';
import { formatTable, type Output, writeResult } from './output.ts';

interface CreateOptions {
  readonly name: string;
  readonly scopes: readonly OperatorScope[];
  readonly expiresDays?: number;
  readonly json?: boolean;
}

/** `subreport operator create|list|revoke`. */
export function addOperatorCommand(program: Command, output: Output): void {
  const operator = program.command('operator').description("manage the tokens of the operator's API");
  addCreate(operator, output);
  addList(operator, output);
  addRevoke(operator, output);
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
      const created = await withOperator(readConfig(), (context) => createOperator(context, options));
      writeResult(
        output,
        json,
        { ...describeOperator(created), token: created.token },
        `The operator ${created.id} was created. The token is shown only now:\n  ${created.token}`,
      );
    });
}

function addList(operator: Command, output: Output): void {
  operator
    .command('list')
    .description('list the tokens, also expired and revoked ones, without their secrets')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport operator list --json')
    .action(async ({ json = false }: { json?: boolean }) => {
      const rows = await withOperator(readConfig(), async (context) => {
        const tokens = await listAll<OperatorToken>((last, limit) => listOperators(context, last?.id ?? '', limit));
        return tokens.map(describeOperator);
      });
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
    .action(async (id: string, { json = false }: { json?: boolean }) => {
      const revoked = await withOperator(readConfig(), (context) => revokeOperator(context, id));
      writeResult(output, json, describeOperator(revoked), `The operator ${id} (${revoked.name}) was revoked.`);
    });
}

function parseName(name: string): string {
  if (fitsText(operatorName, name)) return name;
  throw new InvalidArgumentError(`it must be ${ruleOf(operatorName)}: current value is '${name}'`);
}

function parseDays(text: string): number {
  const days = readWholeNumber(operatorDays, text);
  if (days !== undefined) return days;
  throw new InvalidArgumentError(`it must be ${ruleOf(operatorDays)}: current value is '${text}'`);
}
