/** What the owner of a client receives. */
export interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
  readonly tenant: string;
}

/** A word of a POSIX shell, quoted if it has to be. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The command that stores the credentials on the owner's machine; it asks for the secret. */
export const loginCommand = (url: string, clientId: string): string =>
  `subreport login --url ${shellWord(url)} --client-id ${shellWord(clientId)}`;

/** The settings of the command line and of the examples, as a file that `node --env-file` reads. */
export const environmentFile = (url: string, { client_id: id, client_secret: secret }: Credentials): string =>
  Object.entries({ SUBREPORT_URL: url, SUBREPORT_CLIENT_ID: id, SUBREPORT_CLIENT_SECRET: secret })
    .map(([name, value]) => `${name}=${quoteValue(value)}\n`)
    .join('');

/** A value that Node.js reads back unchanged: it knows three quotes and no escapes in them. */
function quoteValue(value: string): string {
  if (/^[\w@%+=:,./-]+$/.test(value)) return value;
  const quote = ["'", '`', '"'].find((each) => !value.includes(each)) ?? "'";
  return `${quote}${value}${quote}`;
}

/** The members of `demo-client.json`, as `subreport login --credentials` reads them. */
export const credentialsFile = (url: string, { client_id, client_secret, tenant }: Credentials): string =>
  `${JSON.stringify({ base_url: `${url}/connect-api`, token_url: `${url}/oauth2/token`, client_id, client_secret, tenant }, null, 2)}\n`;
