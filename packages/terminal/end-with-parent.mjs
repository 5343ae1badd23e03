// Sends SIGTERM to this process once the process that started it has ended. npm and its shell end
// on SIGTERM without passing it on, and there is no event for that: only the id of the parent
// changes. On Windows, it never does. Plain JavaScript, because it must run on Node.js 20 and
// later.

const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  process.kill(process.pid, 'SIGTERM');
}, 500).unref();
