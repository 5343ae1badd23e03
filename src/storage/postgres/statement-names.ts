import { hash } from 'node:crypto';

/** Maximum prepared statements per connection, the same as on the embedded store. */
const preparedMax = 512;

/**
 * Makes the function that names the statements which each connection prepares. A name is derived
 * from the SQL, because an old pooler may run a statement that another process prepared under the
 * same name. It is '' once there are too many, because each takes memory on the server for every
 * connection.
 */
export function createStatementNames(): (text: string) => string {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined) return known;
    if (names.size >= preparedMax) return '';
    const name = hash('sha256', text, 'base64url');
    names.set(text, name);
    return name;
  };
}
