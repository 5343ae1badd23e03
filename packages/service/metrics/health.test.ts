import { expect, test } from 'vitest';
import { HealthHistory } from './health.ts';

const read = [
  'subreport_doctor_problems 0',
  'subreport_doctor_last_run_timestamp_seconds 0',
  'subreport_imports_last_day{via="http",result="failed"} 0',
  'subreport_tenants{last_import="day"} 1',
].join('\n');
const requests = (count: number): string =>
  `${read}\nsubreport_ready 1\nsubreport_request_duration_seconds_count{listener="public",status_class="2xx"} ${count}`;

/** A service that gets two requests a second, and the function that lets minutes pass. */
function busyService() {
  let seconds = 0;
  const history = new HealthHistory(
    async () => requests(2 * seconds),
    () => seconds * 1000,
  );
  const pass = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute += 1) {
      seconds += 60;
      await history.record();
    }
  };
  const read = async (period: 'hour' | 'day') => {
    const health = await history.read(period);
    return { health, values: health?.charts.find(({ id }) => id === 'requests')?.lines[0]?.values };
  };
  return { history, pass, read };
}

test('a new service has values at once, and nothing that needs attention', async () => {
  const { read } = busyService();
  const { health, values } = await read('day');
  expect(health).toMatchObject({ ready: true, problems: [], last_check_at: null, kept_seconds: 0 });
  expect(values).toEqual([null]);
});

test('the hour has a value for each minute, the day one for each five', async () => {
  const { pass, read } = busyService();
  await pass(11);
  expect((await read('hour')).values).toEqual([null, ...Array(10).fill(2), null]);
  expect((await read('day')).values).toEqual([null, 2, 2, null]);
});

test('the last values are of the time since those before them', async () => {
  const { pass, read } = busyService();
  const lastSeconds = async () =>
    Promise.all((['hour', 'day'] as const).map(async (period) => (await read(period)).health?.last_seconds));
  expect(await lastSeconds()).toEqual([0, 0]);
  await pass(8);
  expect(await lastSeconds()).toEqual([0, 120]);
});

test('no more than a day is kept', async () => {
  const { pass, read } = busyService();
  await pass(24 * 60 + 120);
  const [hour, day] = [await read('hour'), await read('day')];
  expect([hour.values?.length, day.values?.length, day.health?.kept_seconds]).toEqual([61, 289, 86_400]);
});

test('metrics that cannot be collected are no values, and a check has its progress', async () => {
  const silent = new HealthHistory(async () => undefined);
  await silent.record();
  expect(await silent.read('day')).toBeUndefined();
  const { history, read } = busyService();
  history.noteCheck({ checked: 1, tenants: 4, percent: 25 });
  expect((await read('hour')).health?.check).toEqual({ checked: 1, tenants: 4, percent: 25 });
});
