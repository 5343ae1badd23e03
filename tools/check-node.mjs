// Refuses to start the tests with a Node.js version that cannot run them (`npm test`).
import { isNewEnough, nodeFault } from '../packages/service/cli/required-node.mjs';

if (!isNewEnough) {
  console.error(nodeFault('run the tests'));
  process.exitCode = 1;
}
