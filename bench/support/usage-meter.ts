import { appendFileSync } from 'node:fs';

// Loaded before a command (`--import`): writes what its process has used to `USAGE_FILE`.

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const used = { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, memoryMib: maxRSS / 1024 };
  appendFileSync(process.env.USAGE_FILE ?? '', `${JSON.stringify(used)}\n`);
});
