// Plain JavaScript, because it must run on Node.js 20 and later.

/** The major version of .node-version: the sources, and their tests, need it. */
export const nodeOfSources = 26;

/** Whether the current Node.js has a version, such as 26 or 24.7, or a newer one. */
export const isNode = (oldest) => process.versions.node.localeCompare(oldest, 'en', { numeric: true }) >= 0;

/** The error message if it is older; `action` is what cannot be done. */
export function nodeFault(action, oldest) {
  const remedy =
    oldest === nodeOfSources
      ? ', or run npm ci without --omit=optional: on Linux, Windows (x64) and macOS (ARM64), it installs that Node.js, too'
      : '';
  return `Cannot ${action}: Node.js must be version ${oldest} or newer: current value is ${process.versions.node}; install Node.js ${oldest} or newer (https://nodejs.org)${remedy}`;
}
