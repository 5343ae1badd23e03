/** A mistake that the simulation must find within four histories, whatever its seed. */
export interface Plant {
  readonly id: string;
  /** What the service does wrong. */
  readonly breaks: string;
  /** Code that occurs in one file of `packages/service`, once. */
  readonly search: string;
  readonly replace: string;
}

export const plants: readonly Plant[] = [
  {
    id: 'stale-total',
    breaks: 'A page by number has the total of an earlier revision.',
    search: 'if (page.revision === known.revision) {',
    replace: "if (page.revision === known.revision || position.kind === 'offset') {",
  },
  {
    id: 'lost-count',
    breaks: 'The counts miss the first row of each batch that has only new rows.',
    search: 'const changes = rows.map((after) => ({ after, bytesAfter: dataBytesOf(after) }));',
    replace: 'const changes = rows.slice(1).map((after) => ({ after, bytesAfter: dataBytesOf(after) }));',
  },
  {
    id: 'walk-key-without-direction',
    breaks: 'A walk in one direction uses the remembered places of walks in the other one.',
    search: 'JSON.stringify([tenant, filter, order, date, id])',
    replace: 'JSON.stringify([tenant, filter, order.column, date, id])',
  },
  {
    id: 'walk-total-without-tenant',
    breaks: "A page by number has another tenant's total.",
    search: 'JSON.stringify([tenant, filter])',
    replace: 'JSON.stringify([filter])',
  },
  {
    id: 'walk-place-without-tenant',
    breaks: "A page by cursor continues another tenant's walk.",
    search: 'JSON.stringify([tenant, filter, order, date, id])',
    replace: 'JSON.stringify([filter, order, date, id])',
  },
  {
    id: 'place-off-by-one',
    breaks: 'The place of a next page that is remembered is one record too far, so a walk ends too early.',
    search: 'passed: passed + records.count }',
    replace: 'passed: passed + records.count + 1 }',
  },
  {
    id: 'rank-below-zero',
    breaks: 'A descending page past the end has a negative offset.',
    search: ' as asked where rank >= 0)',
    replace: ' as asked)',
  },
  {
    id: 'newest-change-dropped',
    breaks: 'A following page of the newest changes leaves out those whose ids begin like the last one.',
    search: '{ after: newest.floor, before: key }',
    replace: '{ after: newest.floor, before: { ...key, id: key.id.slice(0, -1) } }',
  },
  {
    id: 'removal-counted-as-change',
    breaks: 'The summary of changes counts a removed record as changed.',
    search: "const removed = JSON.stringify({ kind: 'removed' }",
    replace: "const removed = JSON.stringify({ kind: 'changed' }",
  },
];
