import type { DrilledService } from './drilled-service.ts';
import type { Stage } from './stage.ts';

/** Loads rows of NDJSON into the tenant of a service; throws unless they were loaded. */
type Load = (rows: string) => Promise<unknown>;

/** What `lookAtHistory` observes of a history that goes on. */
export const changedAsKept = 'former report as it was; one change since, from PENDING; versions 2';

/** A moment at which nothing changes. */
export interface KeptMoment {
  readonly revision: string;
  readonly report: string;
}

export async function keepMoment(service: DrilledService): Promise<KeptMoment> {
  const { headers } = await service.read('/summary');
  const { text: report } = await service.read('?all=true&format=ndjson');
  return { revision: headers.get('x-revision') ?? '', report };
}

/** How the report of a former moment is read now: as it was, or the status and the reason. */
export async function readMoment(service: DrilledService, { revision, report }: KeptMoment): Promise<string> {
  const { status, text } = await service.ask(`?all=true&format=ndjson&as-of=${revision}`);
  if (status === 200) return text === report ? 'as it was' : 'ANOTHER REPORT';
  const { type = '', detail = '' } = JSON.parse(text) as { type?: string; detail?: string };
  return `${status} ${type}${/must be within the kept history, (which begins at \S+Z, with revision \d+|of which there is none)/.test(detail) ? '' : `: ${detail}`}`;
}

/** Adds a record, changes it, and says what the history tells of it. */
export async function lookAtHistory(stage: Stage, service: DrilledService, load: Load): Promise<string> {
  const row = { ...(JSON.parse(stage.rows(1, `history${stage.random.seed()}-`)) as { id: string }), status: 'PENDING' };
  await load(`${JSON.stringify(row)}\n`);
  const moment = await keepMoment(service);
  const { next } = await service.changes();
  await load(`${JSON.stringify({ ...row, status: 'EXPIRED' })}\n`);
  const { changes } = JSON.parse((await service.read(`/changes?before=true&since=${next}`)).text) as {
    changes: { id: string; kind: string; status: string; before?: { status: string } }[];
  };
  const [change] = changes;
  const isOne =
    changes.length === 1 && change?.id === row.id && change.kind === 'changed' && change.status === 'EXPIRED';
  const { versions } = JSON.parse((await service.read(`/${row.id}/history`)).text) as { versions: unknown[] };
  return `former report ${await readMoment(service, moment)}; ${isOne ? 'one change since' : JSON.stringify(changes)}, from ${change?.before?.status}; versions ${versions.length}`;
}
