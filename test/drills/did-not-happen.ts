import { eventually, startMsMax } from '../support/eventually.ts';
import { waitMsMax } from '../support/wait-limit.ts';
import type { Drill } from './drill.ts';
import type { DrilledService } from './drilled-service.ts';
import { faketime } from './faketime.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { mountSmallDisk, type SmallDisk, type Stage } from './stage.ts';

// Nobody notices what does not happen: no request fails. Each fault here must fire one alert of
// deploy/, and no other, until it is repaired.

interface Scene {
  readonly stage: Stage;
  readonly place: Awaited<ReturnType<Stage['postgres']>>;
  /** The disk of the service's `DATA_DIR`. */
  readonly disk: SmallDisk;
  readonly prometheus: Prometheus;
  /** What Prometheus scrapes. */
  service: DrilledService;
}

interface Fault {
  readonly fault: string;
  readonly fires: string;
  plant(scene: Scene): unknown;
  repair(scene: Scene): unknown;
}

/** Fires on a machine that is busy with something else. */
const ofBusyMachine = 'SubreportEventLoopDelay';

/** The longest window of a rule that a drill uses, after which its alert returns. */
const windowMs = 60_000;

const serve = ({ stage, place, disk }: Omit<Scene, 'service'>, ...args: string[]): Promise<DrilledService> =>
  stage.serve(place, { args, environment: { DATA_DIR: disk.folder } });

async function scrapeAnother(scene: Scene, ...args: string[]): Promise<void> {
  scene.service = await serve(scene, ...args);
  scene.prometheus.scrape([scene.service]);
}

/** Starts another service: one reads its due sweeps at the start, then every five minutes. */
async function restart(scene: Scene, ...args: string[]): Promise<void> {
  await scene.service.stop();
  await scrapeAnother(scene, ...args);
}

/** Runs a command of the operator. */
const run = ({ stage, place }: Pick<Scene, 'stage' | 'place'>, args: readonly string[], environment = {}) =>
  stage.succeed(args, { environment: { ...place.environment, ...environment } });

/** The environment of a command whose clock is late. */
const late = (hours: number) => ({ LD_PRELOAD: faketime, FAKETIME: `-${hours}h` });

/** Makes the sweep of all versions due, and keeps it waiting. */
async function blockSweep(scene: Scene): Promise<void> {
  const { superuser } = scene.place;
  await superuser.query('update tenant_revision set day = day - 400');
  await superuser.query('begin');
  await superuser.query('lock table subscription_version in share mode');
  await restart(scene);
}

async function sweep(scene: Scene): Promise<void> {
  const { superuser } = scene.place;
  await superuser.query('rollback');
  await restart(scene); // which tries again at once, not within ten minutes
  await eventually(async () => {
    const { rows } = await superuser.query('select * from tenant_revision where is_swept = 0 and day < 20000');
    if (rows.length > 0) throw new Error('the sweep must end');
  });
  await restart(scene);
}

/** Kills four of five workers at once: on a busy machine, a worker starts slowly. */
async function killWorkers(scene: Scene): Promise<void> {
  await restart(scene, '--workers', '5');
  const { service } = scene;
  const listening = (workers: number): Promise<void> =>
    eventually(() => {
      if (service.workers.length < workers) throw new Error(`${workers} workers must have listened`);
    }, startMsMax);
  await listening(5);
  for (const worker of service.workers.slice(1)) process.kill(worker, 'SIGKILL');
  await listening(9);
}

const faults: readonly Fault[] = [
  {
    fault: 'the last backup is 40 hours old',
    fires: 'SubreportBackupOverdue',
    plant: (scene) => run(scene, ['backup', '--record'], late(40)),
    repair: (scene) => run(scene, ['backup', '--record']),
  },
  {
    fault: 'the last check is nine days old',
    fires: 'SubreportDoctorOverdue',
    plant: ({ place: { superuser } }) => superuser.query('update doctor_result set finished_at = finished_at - 777600'),
    repair: (scene) => run(scene, ['doctor']),
  },
  {
    fault: 'the disk is full',
    fires: 'SubreportDiskFull',
    plant: ({ disk }) => disk.fill(),
    repair: ({ disk }) => disk.free(),
  },
  {
    fault: 'four of five workers are killed',
    fires: 'SubreportWorkersReplaced',
    plant: killWorkers,
    repair: (scene) => restart(scene),
  },
  {
    fault: 'a lock keeps the sweep waiting',
    fires: 'SubreportSweepOverdue',
    plant: blockSweep,
    repair: sweep,
  },
  {
    fault: 'the service is killed',
    fires: 'SubreportDown',
    async plant({ service }) {
      await service.stop('SIGKILL');
    },
    repair: (scene) => scrapeAnother(scene),
  },
  {
    fault: 'Prometheus loses the target',
    fires: 'SubreportDown without a target',
    plant: ({ prometheus }) => prometheus.scrape([]),
    repair: ({ prometheus, service }) => prometheus.scrape([service]),
  },
];

/** The alerts that a drill here has seen to fire. */
export const firedHere: readonly string[] = faults.map(({ fires }) => fires.split(' ')[0] ?? '');

/** The alerts that pend or fire, but for those of a busy machine. */
async function alertsOf({ prometheus }: Scene, ...states: string[]): Promise<readonly string[]> {
  const alerts = await prometheus.alerts();
  const names = alerts
    .filter(({ state, labels }) => states.includes(state) && labels.alertname !== ofBusyMachine)
    .map(({ labels }) => `${labels.alertname}${labels.instance === undefined ? ' without a target' : ''}`);
  return [...new Set(names)].sort();
}

/** Plants a fault and repairs it; returns the alerts that fire in between. */
async function observe(scene: Scene, { fault, fires, plant, repair }: Fault): Promise<readonly string[]> {
  await plant(scene);
  const firing = await eventually(async () => {
    const names = await alertsOf(scene, 'firing');
    if (names.join() !== fires) throw new Error(`${fault}: only ${fires} must fire: ${names.join()}`);
    return names;
  });
  await repair(scene);
  await eventually(() => assertQuiet(scene, fault, fires), waitMsMax + windowMs);
  return firing;
}

/** An alert also returns when its metric is lost, so the metric must be there. */
async function assertQuiet(scene: Scene, fault: string, fires: string): Promise<void> {
  const { prometheus } = scene;
  const names = await alertsOf(scene, 'pending', 'firing');
  if (names.length > 0) throw new Error(`${fault}: no alert must be left after the repair: ${names.join()}`);
  const query = await prometheus.ruleOf(fires.split(' ')[0] ?? '');
  const [metric = ''] = /subreport_\w+|\bup\b/.exec(query) ?? [];
  const [measured, broken] = await Promise.all([prometheus.query(metric), prometheus.query(query)]);
  if (measured.length === 0 || broken.length > 0)
    throw new Error(`${fault}: '${query}' must be measured and not hold after the repair`);
}

export const didNotHappen: Drill = {
  name: 'did-not-happen',
  fault: `one after another, each until it is repaired: ${faults.map(({ fault }) => fault).join('; ')}; Prometheus evaluates the rules of deploy/`,
  expected: `only this alert fires, until the repair: ${faults.map(({ fires }) => fires).join(', ')}`,
  needs: ['Linux', 'tmpfs', 'libfaketime', 'Prometheus'],
  async run(stage) {
    const place = await stage.postgres();
    const disk = mountSmallDisk(stage, 16, 0);
    await run({ stage, place }, ['doctor']);
    const prometheus = await startPrometheus(stage);
    const scene = { stage, place, disk, prometheus, service: await serve({ stage, place, disk, prometheus }) };
    prometheus.scrape([scene.service]);
    const observed: string[] = [];
    for (const fault of faults) observed.push(...(await observe(scene, fault)));
    return `only this alert fires, until the repair: ${observed.join(', ')}`;
  },
};
