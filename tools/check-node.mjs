// Refuses to start the tests with a Node.js version that cannot run them (`npm test`).
import { isNode, nodeFault, nodeOfSources } from '../packages/terminal/required-node.mjs';

if (!isNode(nodeOfSources)) {
  console.error(nodeFault('run the tests', nodeOfSources));
  process.exitCode = 1;
}
