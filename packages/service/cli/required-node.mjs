// Plain JavaScript, because it must run on Node.js 20 and later.

const oldestNode = 26;

/** Whether the current Node.js can run the service and its tests. */
export const isNewEnough = Number(process.versions.node.split('.')[0]) >= oldestNode;

/** The error message if it cannot; `action` is what cannot be done. */
export const nodeFault = (action) =>
  `Cannot ${action}: Node.js must be version ${oldestNode} or newer: current value is ${process.versions.node}; install Node.js ${oldestNode} (https://nodejs.org), or install subreport again without --omit=optional: on Linux, Windows (x64) and macOS (ARM), npm then installs Node.js ${oldestNode}, too`;
