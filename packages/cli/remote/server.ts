import { isWellFormedOperatorToken } from '../../contract/operator/token.ts';
import { isSecureUrl } from '../../contract/secure-url.ts';
import { rememberSecret } from '../../outgoing/known-secrets.ts';
import { readVariable } from '../../terminal/environment.ts';
import { UsageError } from '../../terminal/error.ts';
import { hidePassword, readSecretFiles } from '../../terminal/secret-files.ts';

/** The option `--server` of a command. */
export interface ServerChoice {
  readonly server?: string;
}

/** A server with the operator's API. */
export interface Server {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
}

/**
 * The server of `--server` or `SUBREPORT_SERVER`; `undefined` if neither is given, or if `--server`
 * is empty. Throws `UsageError` if the URL or the token cannot be used.
 */
export function serverOf({ server }: ServerChoice): Server | undefined {
  const given = server ?? readVariable('SUBREPORT_SERVER');
  if (given === undefined || given === '') return undefined;
  if (!isSecureUrl(given) || /[?#]/.test(given)) {
    const name = server === undefined ? 'SUBREPORT_SERVER' : '--server';
    throw new UsageError(
      `Cannot use ${name}: it must be a URL that starts with https:// (http:// only for this machine), without a user name, ? and #, such as https://reports.internal:9464: current value is '${hidePassword(given)}'`,
    );
  }
  const token = readToken();
  rememberSecret(token);
  return { url: given.replace(/\/+$/, ''), token };
}

const variable = 'SUBREPORT_OPERATOR_TOKEN';

function readToken(): string {
  const file = `${variable}_FILE` as const;
  const { values, faults } = readSecretFiles([variable], {
    [variable]: readVariable(variable),
    [file]: readVariable(file),
  });
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  const token = values[variable] ?? readVariable(variable);
  if (token !== undefined && isWellFormedOperatorToken(token)) return token;
  const state = token === undefined ? '; it is not set' : '';
  throw new UsageError(
    `Cannot use --server: ${variable}, or the content of the file ${file}, must be a token of 'subreport operator create': sro_ and 43 characters${state}`,
  );
}
