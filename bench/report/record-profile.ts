import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

// Loaded into a service with `--import`: SIGUSR2 begins a CPU profile, the next one ends it and
// writes it to `PROFILE_FILE`.

/** Time between two samples in microseconds. */
const intervalUs = 250;

const session = new Session();
session.connect();
let isRecording = false;

process.on('SIGUSR2', async () => {
  isRecording = !isRecording;
  if (isRecording) {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: intervalUs });
    await session.post('Profiler.start');
  } else {
    const { profile } = await session.post('Profiler.stop');
    writeFileSync(process.env.PROFILE_FILE ?? '', JSON.stringify(profile));
  }
});
